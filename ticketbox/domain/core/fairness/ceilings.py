"""Ceilings: what the operator allows each account and company at most (docs/operate/configuration.md, "Ceilings")."""

from collections import Counter

import msgspec

from ticketbox.domain.core.fairness.limits import Budget
from ticketbox.domain.core.problems import CompanyStorageFull, Forbidden, InvalidField

MAX_PER_MINUTE = 1_000_000
DEFAULT_COMPANIES = 100
DEFAULT_REPORTS_PER_MINUTE = 60
DEFAULT_REPORTS_PER_DAY = 2_000


class Ceilings(msgspec.Struct, frozen=True, kw_only=True):
    """The operator's ceilings. Without `storage_per_company`, in bytes, only the disk limits what companies store.

    `refusals` counts refused calls by the name of the ceiling, which is also the option's.
    """

    reads_per_minute: int = MAX_PER_MINUTE
    writes_per_minute: int = MAX_PER_MINUTE
    companies_per_account: int = DEFAULT_COMPANIES
    storage_per_company: int | None = None
    reports_per_minute: int = DEFAULT_REPORTS_PER_MINUTE
    reports_per_day: int = DEFAULT_REPORTS_PER_DAY
    refusals: Counter[str] = msgspec.field(default_factory=Counter[str])

    def get_rate_limit(self, budget: Budget) -> int:
        """Return how many calls per minute a token can have."""
        return self.reads_per_minute if budget is Budget.READ else self.writes_per_minute

    def require_rate_limit(self, budget: Budget, figure: int | None) -> None:
        """Refuse a company's limit that is above the ceiling. Raises InvalidField."""
        ceiling = self.get_rate_limit(budget)
        if figure is not None and figure > ceiling:
            self.refusals[f"{budget.value}_per_minute"] += 1
            raise InvalidField(
                f"limits.{budget.value}_per_minute", f"the operator of this server allows at most {ceiling:,} a minute"
            )

    def require_report_limit(self, name: str, figure: int) -> None:
        """Refuse a limit of a report key, `per_minute` or `per_day`, that is above the ceiling. Raises InvalidField."""
        ceiling = self.reports_per_minute if name == "per_minute" else self.reports_per_day
        if figure > ceiling:
            self.refusals[f"reports_{name}"] += 1
            raise InvalidField(name, f"the operator of this server allows at most {ceiling:,}")

    def require_company(self, count: int) -> None:
        """Refuse another company to an account that created `count`. Raises Forbidden."""
        if count >= self.companies_per_account:
            self.refusals["companies_per_account"] += 1
            if not self.companies_per_account:
                raise Forbidden("only the operator of this server can create companies")
            raise Forbidden(
                f"an account can create at most {self.companies_per_account} companies on this server; "
                "delete one that you no longer need, or ask the server's operator"
            )

    def require_storage(self, used: int) -> None:
        """Refuse a write after which a company stores `used` bytes. Raises CompanyStorageFull."""
        if self.storage_per_company is not None and used > self.storage_per_company:
            self.refusals["storage_per_company"] += 1
            raise CompanyStorageFull(self.storage_per_company)
