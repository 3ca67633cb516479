import { createInterface } from 'node:readline/promises'
import type { Readable, Writable } from 'node:stream'
import type { Account, AccountStore } from '../ports/accountStore.js'
import { type Command, readCommand } from './command.js'

export interface Terminal {
  print(line: string): void
  /** Null if the input is not a terminal. */
  ask(question: string): Promise<string | null>
}

export type OpenAccountStore = () => Promise<{ readonly accounts: AccountStore; close(): Promise<void> }>

/** Throws an operator-facing error if the command fails. */
export const runAdmin = async (
  args: readonly string[],
  terminal: Terminal,
  open: OpenAccountStore,
): Promise<void> => {
  const command = readCommand(args)
  const { accounts, close } = await open()
  try {
    const found = await run(command, accounts, terminal)
    terminal.print(command.isJson ? JSON.stringify(found, null, 2) : writeTable(found))
  } finally {
    await close()
  }
}

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
  if (account === null) throw new Error(`Account ${id} does not exist.`)
  return account
}

const confirm = async ({ email, project }: Account, { ask }: Terminal): Promise<void> => {
  const answer = await ask(`Permanently revoke the key of "${project}" (${email})? Type yes: `)
  if (answer === null) throw new Error('Nothing was revoked. Not a terminal: pass --yes to confirm.')
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
