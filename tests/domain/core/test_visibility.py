"""Which actors see the same projects, so that they can share a read."""

from msgspec.structs import replace

from ticketbox.domain.core.access.policy import ANONYMOUS, Membership
from ticketbox.domain.core.access.scopes import Role

WHOLE = Membership(1, "c-1", "Example", Role.MEMBER, None, None, all_projects=True)
PARTIAL = Membership(1, "c-1", "Example", Role.MEMBER, None, None, all_projects=False)
OTHER = Membership(2, "c-2", "Other", Role.ADMIN, None, None, all_projects=True)
ANN = replace(ANONYMOUS, user=1, credential=1, memberships=(WHOLE,))
BEN = replace(ANONYMOUS, user=2, credential=2, memberships=(WHOLE,))


def test_members_of_the_same_companies_share() -> None:
    assert ANN.visibility == BEN.visibility
    assert replace(ANN, memberships=(WHOLE, OTHER)).visibility == replace(BEN, memberships=(OTHER, WHOLE)).visibility
    pinned = replace(BEN, memberships=(WHOLE, OTHER), company=1)
    assert pinned.visibility == ANN.visibility


def test_other_companies_restrictions_and_partial_members_do_not_share() -> None:
    different = [
        ANN,
        replace(ANN, memberships=(WHOLE, OTHER)),
        replace(ANN, memberships=(OTHER,)),
        replace(ANN, memberships=()),
        replace(ANN, memberships=(PARTIAL,)),
        replace(BEN, memberships=(PARTIAL,)),
        replace(ANN, memberships=(PARTIAL, OTHER), company=1),
        replace(ANN, company=1, restricted=True),
        replace(BEN, company=1, restricted=True),
    ]
    assert len({actor.visibility for actor in different}) == len(different)
