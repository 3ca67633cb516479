import { createInterface } from 'node:readline/promises'
import type { Readable, Writable } from 'node:stream'
import type { Account, AccountStore } from '../ports/accountStore.js'
import type { Actor, AuditEntry, AuditLog } from '../ports/auditLog.js'
import { type Command, readCommand } from './command.js'

export interface Terminal {
  print(line: string): void
  /** Null if the input is not a terminal. */
  ask(question: string): Promise<string | null>
}

interface OpenStores {
  readonly accounts: AccountStore
  readonly audit: Pick<AuditLog, 'list'>
  /** Seals every stored secret with the current one. */
  reseal(): Promise<{ readonly keys: number; readonly webhooks: number; readonly failed: number }>
  close(): Promise<void>
}

export type OpenAccountStore = () => Promise<OpenStores>

const by: Actor = { actor: 'operator', address: null }
const maxAuditEntries = 1_000

/** Throws an operator-facing error if the command fails. */
export const runAdmin = async (
  args: readonly string[],
  terminal: Terminal,
  open: OpenAccountStore,
): Promise<void> => {
  const command = readCommand(args)
  const { close, ...stores } = await open()
  try {
    const { found, table } = await run(command, stores, terminal)
    terminal.print(command.isJson ? JSON.stringify(found, null, 2) : table)
  } finally {
    await close()
  }
}

interface Found {
  /** For `--json`. */
  readonly found: unknown
  readonly table: string
}

const run = async (
  command: Command,
  { accounts, audit, reseal }: Omit<OpenStores, 'close'>,
  terminal: Terminal,
): Promise<Found> => {
  switch (command.verb) {
    case 'list':
      return showAccounts(await accounts.list())
    case 'set-tier':
      await find(accounts, command.id)
      await accounts.setTier(command.id, command.tier, { by })
      return showAccounts([await find(accounts, command.id)])
    case 'unrestrict':
      await find(accounts, command.id)
      await accounts.setRestrictions(command.id, { allowedIPs: null, allowedRef: null }, { by })
      return showAccounts([await find(accounts, command.id)])
    case 'audit':
      await find(accounts, command.id)
      return showAudit(await audit.list(command.id, { limit: maxAuditEntries }))
    case 'reseal':
      return showResealed(await reseal())
    case 'revoke': {
      const account = await find(accounts, command.id)
      if (!command.isConfirmed) await confirm(account, terminal)
      await accounts.revoke(command.id, { by })
      return showAccounts([await find(accounts, command.id)])
    }
  }
}

const showResealed = (result: Awaited<ReturnType<OpenStores['reseal']>>): Found => {
  const { keys, webhooks, failed } = result
  const sentence = `Sealed again: ${keys} keys, ${webhooks} webhooks.`
  if (failed === 0) return { found: result, table: sentence }
  throw new Error(`${sentence} ${failed} rows could not be opened and were left as they are.`)
}

const find = async (accounts: AccountStore, id: string): Promise<Account> => {
  const account = await accounts.find(id)
  if (account === null) throw new Error(`Account ${id} does not exist.`)
  return account
}

const confirm = async ({ email, project }: Account, { ask }: Terminal): Promise<void> => {
  const answer = await ask(`Permanently revoke the key of "${project}" (${email})? Type yes: `)
  if (answer === null) throw new Error('Nothing was revoked. Not a terminal: pass --yes to confirm.')
  if (answer.trim() !== 'yes') throw new Error('Nothing was revoked.')
}

const showAccounts = (accounts: readonly Account[]): Found => ({
  found: accounts,
  table: writeTable([
    ['ACCOUNT', 'TIER', 'STATUS', 'CREATED', 'EMAIL', 'PROJECT'],
    ...accounts.map(({ id, tier, status, createdAt, email, project }) => [
      id,
      tier,
      status,
      createdAt.toISOString(),
      email,
      project,
    ]),
  ]),
})

const showAudit = (entries: readonly AuditEntry[]): Found => ({
  found: entries,
  table: writeTable([
    ['TIME', 'ACTION', 'ACTOR', 'ADDRESS', 'DETAILS'],
    ...entries.map(({ createdAt, action, actor, address, details }) => [
      createdAt.toISOString(),
      action,
      // Key names are user input, which must not control the terminal.
      actor.replaceAll(/\p{C}/gu, ''),
      address ?? '-',
      JSON.stringify(details),
    ]),
  ]),
})

const writeTable = (rows: readonly (readonly string[])[]): string => {
  const widths =
    rows[0]?.map((_head, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? []
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** Questions are written to `prompts`, so that output can be piped. */
export interface Streams {
  readonly input: Readable & { readonly isTTY?: boolean }
  readonly output: Writable
  readonly prompts: Writable
}

export const createTerminal = ({ input, output, prompts }: Streams): Terminal => ({
  print: (line) => void output.write(`${line}\n`),
  ask: async (question) => {
    if (input.isTTY !== true) return null
    const lines = createInterface({ input, output: prompts })
    try {
      return await lines.question(question)
    } finally {
      lines.close()
    }
  },
})
