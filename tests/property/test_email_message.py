"""Whatever people type, a mail has the headers that we gave it and goes to nobody else."""

from email import message_from_bytes, policy
from email.headerregistry import Address
from email.message import EmailMessage

from hypothesis import given, settings
from hypothesis import strategies as st

from ticketbox.jobs.email.message import sanitize_header_text

TYPED = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=120),
    st.text('=?utf8-qQbB \n\r:<>,"\\()@ä_0AD.', max_size=150),
    st.from_regex(r"(=\?utf-8\?q\?=0ABcc:_[a-c]@d\?= ?){1,3}", fullmatch=True),
)


@settings(deadline=None)  # a busy machine is slow at times
@given(TYPED)
def test_title_and_name_stay_in_their_headers(typed: str) -> None:
    message = EmailMessage(policy=policy.SMTP)
    message["Subject"] = sanitize_header_text(f"[Shop] {typed}")
    message["To"] = Address(sanitize_header_text(typed), addr_spec="bob@example.org")
    message.set_content("Look")
    came = message_from_bytes(message.as_bytes(), policy=policy.default)
    assert len(came.keys()) == 5
    assert [each.addr_spec for each in came["To"].addresses] == ["bob@example.org"]
    assert came["Subject"].replace(" ", "") == sanitize_header_text(f"[Shop] {typed}").replace(" ", "")
