import type { Account, AccountStore } from '../ports/accountStore.js'
import { type Command, readCommand } from './command.js'

/** Where the command speaks and listens. */
export interface Terminal {
  print(line: string): void
  /** Null when nobody is there to answer. */
  ask(question: string): Promise<string | null>
}

/** What the command works on; opened only for a command that was understood. */
export type OpenAccountStore = () => Promise<{ readonly accounts: AccountStore; close(): Promise<void> }>

/** Runs one command of an operator. Throws a sentence when it cannot be done. */
export const runAdmin = async (
  words: readonly string[],
  terminal: Terminal,
  open: OpenAccountStore,
): Promise<void> => {
  const command = readCommand(words)
  const { accounts, close } = await open()
  try {
    const found = await run(command, accounts, terminal)
    terminal.print(command.isJson ? JSON.stringify(found, null, 2) : writeTable(found))
  } finally {
    await close()
  }
}

/** Answers the accounts that the command was about, as they are now. */
const run = async (
  command: Command,
  accounts: AccountStore,
  terminal: Terminal,
): Promise<readonly Account[]> => {
  switch (command.verb) {
    case 'list':
      return accounts.list()
    case 'set-tier':
      await find(accounts, command.id)
      await accounts.setTier(command.id, command.tier)
      return [await find(accounts, command.id)]
    case 'unrestrict':
      await find(accounts, command.id)
      await accounts.setRestrictions(command.id, { allowedIPs: null, allowedRef: null })
      return [await find(accounts, command.id)]
    case 'revoke': {
      const account = await find(accounts, command.id)
      if (!command.isConfirmed) await confirm(account, terminal)
      await accounts.revoke(command.id)
      return [await find(accounts, command.id)]
    }
  }
}

const find = async (accounts: AccountStore, id: string): Promise<Account> => {
  const account = await accounts.find(id)
  if (account === null) throw new Error(`There is no account ${id}.`)
  return account
}

const confirm = async ({ email, project }: Account, { ask }: Terminal): Promise<void> => {
  const answer = await ask(`Revoke the key of "${project}" (${email}) for good? Write yes: `)
  if (answer === null) throw new Error('Nobody is there to confirm it: nothing was revoked. Say --yes.')
  if (answer.trim() !== 'yes') throw new Error('Nothing was revoked.')
}

const writeTable = (accounts: readonly Account[]): string => {
  const rows = [
    ['ACCOUNT', 'TIER', 'STATUS', 'CREATED', 'EMAIL', 'PROJECT'],
    ...accounts.map(({ id, tier, status, createdAt, email, project }) => [
      id,
      tier,
      status,
      createdAt.toISOString(),
      email,
      project,
    ]),
  ]
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
