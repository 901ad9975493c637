"""Comments and commit statuses on GitHub, GitLab, Gitea and Forgejo (docs/use/verifications.md)."""
