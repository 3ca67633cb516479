import { createInterface } from 'node:readline/promises'
import type { Readable, Writable } from 'node:stream'
import type { Account, AccountStore, AuditLog } from '../../ports/accountStore.js'
import type { Settlement } from '../../ports/settlementJournal.js'
import type { CallerReport } from '../../protocol/operatorOverview.js'
import type { TierName } from '../../protocol/tiers.js'
import { createChangeAccount, operatorActor } from '../../usecases/operator/changeAccount.js'
import { type Command, readCommand, type SettlementListing } from './command.js'
import {
  type Archived,
  describeFindings,
  type Finding,
  type Found,
  type ImportedBindings,
  type ImportedConsumed,
  type Setting,
  showAccounts,
  showArchived,
  showAudit,
  showCallers,
  showImported,
  showImportedBindings,
  showSettings,
  showSettlement,
  showSettlements,
  showTransfer,
  type Transfer,
  writeBigint,
} from './tables.js'

interface Terminal {
  print(line: string): void
  /** Null if the input is not a terminal. */
  ask(question: string): Promise<string | null>
}

interface OpenStores {
  readonly accounts: AccountStore
  readonly audit: Pick<AuditLog, 'list'>
  /** Seals every stored secret with the current one. */
  reseal(): Promise<{ readonly keys: number; readonly webhooks: number; readonly failed: number }>
  readonly settlements: {
    /** Newest first. */
    search(search: SettlementListing): Promise<readonly Settlement[]>
    find(id: string): Promise<Settlement | null>
  }
  close(): Promise<void>
}

/** What the commands need of the machine; each opens only what it uses. */
export interface Installation {
  listTiers(): readonly TierName[]
  openStores(): Promise<OpenStores>
  check(): Promise<readonly Finding[]>
  listSettings(): readonly Setting[]
  /** Asks a running instance; null: the one of this configuration, on this machine. */
  readCallers(url: string | null): Promise<CallerReport>
  backUp(file: string): Promise<Transfer>
  restore(file: string): Promise<Transfer>
  archive(file: string, before: Date): Promise<Archived>
  /** Returns how many were written. */
  exportConsumed(file: string): Promise<number>
  importConsumed(file: string): Promise<ImportedConsumed>
  /** Returns how many were written. */
  exportBindings(file: string): Promise<{ readonly channels: number; readonly holds: number }>
  importBindings(file: string): Promise<ImportedBindings>
}

const maxAuditEntries = 1_000

/** Returns the exit code. Throws an operator-facing error if the command fails. */
export const runAdmin = async (
  args: readonly string[],
  terminal: Terminal,
  installation: Installation,
): Promise<0 | 1> => {
  const command = readCommand(args, installation.listTiers)
  const { found, table, hasFailed = false } = await run(command, installation, terminal)
  terminal.print(command.isJson ? JSON.stringify(found, writeBigint, 2) : table)
  return hasFailed ? 1 : 0
}

const run = async (command: Command, installation: Installation, terminal: Terminal): Promise<Found> => {
  switch (command.verb) {
    case 'check': {
      const findings = await installation.check()
      return {
        found: findings,
        table: describeFindings(findings),
        hasFailed: findings.some(({ level }) => level === 'error'),
      }
    }
    case 'config':
      return showSettings(installation.listSettings())
    case 'callers':
      return showCallers(await installation.readCallers(command.url))
    case 'backup':
      return showTransfer('Wrote', await installation.backUp(command.file))
    case 'restore':
      return showTransfer('Restored', await installation.restore(command.file))
    case 'archive':
      return showArchived(command.file, await installation.archive(command.file, command.before))
    case 'export-consumed': {
      const count = await installation.exportConsumed(command.file)
      return {
        found: { file: command.file, count },
        table: `Wrote ${command.file}: ${count} consumed authorizations.`,
      }
    }
    case 'import-consumed':
      return showImported(command.file, await installation.importConsumed(command.file))
    case 'export-bindings': {
      const { file } = command
      const counts = await installation.exportBindings(file)
      const { channels, holds } = counts
      return { found: { file, ...counts }, table: `Wrote ${file}: ${channels} channels, ${holds} holds.` }
    }
    case 'import-bindings':
      return showImportedBindings(command.file, await installation.importBindings(command.file))
    case 'list':
    case 'set-tier':
    case 'unrestrict':
    case 'audit':
    case 'reseal':
    case 'revoke':
    case 'list-settlements':
    case 'show-settlement':
      return await runOnStores(command, installation, terminal)
  }
}

type StoreCommand = Exclude<
  Command,
  {
    readonly verb:
      | 'check'
      | 'config'
      | 'callers'
      | 'backup'
      | 'restore'
      | 'archive'
      | 'export-consumed'
      | 'import-consumed'
      | 'export-bindings'
      | 'import-bindings'
  }
>

const runOnStores = async (
  command: StoreCommand,
  { openStores }: Installation,
  terminal: Terminal,
): Promise<Found> => {
  const { close, ...stores } = await openStores()
  try {
    return await runWithStores(command, stores, terminal)
  } finally {
    await close()
  }
}

const runWithStores = async (
  command: StoreCommand,
  { accounts, audit, settlements, reseal }: Omit<OpenStores, 'close'>,
  terminal: Terminal,
): Promise<Found> => {
  switch (command.verb) {
    case 'list-settlements':
      return showSettlements(await settlements.search(command.filter))
    case 'show-settlement':
      return showSettlement(await settlements.find(command.id), command.id)
    case 'list':
      return showAccounts(await accounts.list())
    case 'set-tier':
      return showAccounts([await createChangeAccount(accounts).setTier(command.id, command.tier)])
    case 'unrestrict':
      await find(accounts, command.id)
      await accounts.setRestrictions(
        command.id,
        { allowedIPs: null, allowedRef: null },
        { by: operatorActor },
      )
      return showAccounts([await find(accounts, command.id)])
    case 'audit':
      await find(accounts, command.id)
      return showAudit(await audit.list(command.id, { limit: maxAuditEntries }))
    case 'reseal':
      return showResealed(await reseal())
    case 'revoke': {
      const account = await find(accounts, command.id)
      if (!command.isConfirmed) await confirm(account, terminal)
      return showAccounts([await createChangeAccount(accounts).revoke(command.id)])
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
