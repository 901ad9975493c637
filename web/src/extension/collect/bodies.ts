globalThis.ticketboxBodies = true;

export {};
