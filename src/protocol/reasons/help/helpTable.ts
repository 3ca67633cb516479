/** By reason: when it happens, and what to do. docs/errors.md says the same. */
export type HelpTable = Readonly<Record<string, readonly [explanation: string, remedy: string]>>
