/** Runs before the recorder on sites whose project records request and response bodies. */
globalThis.ticketboxRecordsBodies = true;

export {};
