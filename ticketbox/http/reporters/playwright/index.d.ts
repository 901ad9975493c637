import type { FullConfig, Reporter, Suite } from '@playwright/test/reporter';

export interface Options {
  /** The server's address. Default: `TICKETBOX_URL`. */
  url?: string;
  /** An API token with the scopes `read`, `tickets:write` and `comments`. Default: `SERVICE_API_TOKEN`. */
  token?: string;
  /** The project of new tickets, by name or id. Default: `TICKETBOX_PROJECT`. */
  project?: string;
  /** Marks tickets whose test fails. Default: `failing-test`. */
  label?: string;
  /** Whether to attach traces, from which no secrets are removed. Default: true. */
  attachTrace?: boolean;
  /** How many failures of one run are filed. Default: 20. */
  maxFailures?: number;
}

export default class TicketReporter implements Reporter {
  constructor(options?: Options);
  onBegin(config: FullConfig, suite: Suite): void;
  onEnd(): Promise<void>;
  printsToStdio(): boolean;
}
