import type { Account, AuditEntry } from '../../ports/accountStore.js'
import type { Settlement } from '../../ports/settlementJournal.js'
import type { CallerReport } from '../../protocol/operatorOverview.js'

/** One line of `admin check`. Holds no secrets. */
export interface Finding {
  readonly level: 'ok' | 'warning' | 'error'
  /** Such as `database` or `eip155:8453`. */
  readonly subject: string
  readonly text: string
}

export const describeFindings = (findings: readonly Finding[]): string => {
  const count = (level: Finding['level']) => findings.filter((each) => each.level === level).length
  const table = writeTable(findings.map(({ level, subject, text }) => [level, subject, text]))
  return `${table}\n\n${count('ok')} ok, ${count('warning')} warnings, ${count('error')} errors`
}

/** Columns as wide as their widest cell; the first row is the head. */
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

/** Numbers of authorizations. */
export interface ImportedConsumed {
  readonly listed: number
  /** What the database lacked. */
  readonly added: number
  /** What another settlement, or one with other terms, has consumed in the database. */
  readonly contradicted: number
  /** Those whose settlement the database lacks. */
  readonly withoutSettlement: number
}

/** A secret value is null, with `isSecret`. */
export interface Setting {
  readonly name: string
  readonly value: string | null
  /** `file`: that of `<NAME>_FILE`. */
  readonly source: 'environment' | 'file' | 'default' | 'unset'
  readonly isSecret: boolean
}

export interface Transfer {
  readonly file: string
  readonly rows: Readonly<Record<string, number>>
  /** For operators: what has to be kept or done besides. */
  readonly advice: readonly string[]
}

export const writeBigint = (_name: string, value: unknown): unknown =>
  typeof value === 'bigint' ? String(value) : value

export interface Found {
  /** For `--json`. */
  readonly found: unknown
  readonly table: string
  readonly hasFailed?: boolean
}

const settlementHead = [
  'SETTLEMENT',
  'STATUS',
  'NETWORK',
  'AMOUNT',
  'PAYER',
  'PAY TO',
  'TRANSACTION',
  'CREATED',
]

export const showSettlements = (settlements: readonly Settlement[]): Found => ({
  found: settlements.map(describeSettlement),
  table: writeTable([
    settlementHead,
    ...settlements.map((settlement) => [
      settlement.id,
      settlement.state,
      settlement.network,
      writeAmount(settlement),
      settlement.payer,
      settlement.payTo,
      settlement.transaction ?? '-',
      settlement.createdAt.toISOString(),
    ]),
  ]),
})

const writeAmount = ({ settledAmount, amount, authorizedAmount }: Settlement): string => {
  const shown = settledAmount ?? amount
  return shown === authorizedAmount ? String(shown) : `${shown} of ${authorizedAmount}`
}

export const showSettlement = (settlement: Settlement | null, id: string): Found => {
  if (settlement === null) throw new Error(`Settlement ${id} does not exist.`)
  const found = describeSettlement(settlement)
  const rows = Object.entries(found).map(([name, value]) => [name, writeCell(value)])
  return { found, table: writeTable(rows) }
}

const writeCell = (value: unknown): string => {
  if (value === null) return '-'
  if (value instanceof Date) return value.toISOString()
  // The resource and details come from callers, and must not control the terminal.
  if (typeof value === 'object') return JSON.stringify(value, writeBigint)
  return String(value).replaceAll(/\p{C}/gu, '')
}

/** Without signed bytes and the fingerprint of the request. */
const describeSettlement = ({ broadcasts, fingerprint: _fingerprint, ...rest }: Settlement) => ({
  ...rest,
  transactions: broadcasts.map(({ transaction }) => transaction),
})

export const showSettings = (settings: readonly Setting[]): Found => ({
  found: settings,
  table: writeTable([
    ['VARIABLE', 'FROM', 'VALUE'],
    ...settings.map(({ name, value, source, isSecret }) => [
      name,
      source,
      isSecret ? '[secret]' : value === null || value === '' ? '-' : value,
    ]),
  ]),
})

const callersHead = ['CALLER', 'REQUESTS', 'REFUSED', 'SETTLES', 'BUSY S', 'REASONS']

/** One table for each measure. */
export const showCallers = (report: CallerReport): Found => {
  const { from, to, mostRequests, mostRefused, mostBusy, isComplete } = report
  const rank = (title: string, callers: CallerReport['mostBusy']): string => {
    const rows = callers.map(({ accountId, network, requests, refused, settles, busyMs, reasons }) => [
      withoutControls(accountId ?? network ?? '-'),
      String(requests),
      String(refused),
      String(settles),
      (busyMs / 1_000).toFixed(1),
      reasons.map(({ reason, count }) => `${withoutControls(reason)} ${count}`).join(', ') || '-',
    ])
    return `${title}\n${rows.length === 0 ? 'none' : writeTable([callersHead, ...rows])}`
  }
  return {
    found: report,
    table: [
      `${from} to ${to}, of the instance that answered`,
      rank('Most requests', mostRequests),
      rank('Most refused', mostRefused),
      rank('Most time of the instance', mostBusy),
      ...(isComplete ? [] : ['There were more callers than are kept: counts may be a little low.']),
    ].join('\n\n'),
  }
}

const withoutControls = (text: string): string => text.replaceAll(/\p{C}/gu, '')

export const showTransfer = (verb: string, { file, rows, advice }: Transfer): Found => {
  const counts = ['settlements', 'accounts', 'api_keys', 'webhook_endpoints']
    .map((name) => `${rows[name] ?? 0} ${name.replace('_', ' ')}`)
    .join(', ')
  return { found: { file, rows, advice }, table: [`${verb} ${file}: ${counts}.`, ...advice].join('\n') }
}

export interface Archived {
  /** Settlements in the file. */
  readonly listed: number
  readonly deleted: number
  readonly sha256: string
}

export const showArchived = (file: string, found: Archived): Found => ({
  found: { file, ...found },
  table:
    found.listed === 0
      ? 'No settlement can be archived: no file was written.'
      : `Wrote ${file}: ${found.listed} settlements, of which this run deleted ${found.deleted}. SHA-256: ${found.sha256}.`,
})

export const showImported = (file: string, found: ImportedConsumed): Found => {
  const { listed, added, contradicted, withoutSettlement } = found
  return {
    found: { file, ...found },
    table: [
      `Read ${file}: ${listed} consumed authorizations, of which the database lacked ${added}. They cannot be settled again.`,
      `${withoutSettlement} consumed authorizations of the database have no settlement: reconciliation lists them as settlement_missing.`,
      ...(contradicted === 0
        ? []
        : [
            `${contradicted} were consumed by another settlement here, or under other terms: rows were changed.`,
          ]),
    ].join('\n'),
    hasFailed: contradicted > 0,
  }
}

interface ImportedRows {
  readonly listed: number
  readonly added: number
}

export interface ImportedBindings {
  readonly channels: ImportedRows
  readonly holds: ImportedRows
  readonly raised: number
  readonly withoutAccount: number
  readonly conflicts: readonly {
    readonly binding: string
    readonly network: string
    readonly id: string
    readonly account: string
    readonly accountInFile: string
  }[]
  readonly defaults: ImportedRows & {
    readonly changed: number
    readonly conflicts: readonly {
      readonly account: string
      readonly atDeadline: string
      readonly atDeadlineInFile: string
    }[]
    readonly withdrawn: readonly { readonly account: string; readonly atDeadline: string }[]
  }
}

export const showImportedBindings = (file: string, found: ImportedBindings): Found => {
  const { channels, holds, raised, withoutAccount, conflicts, defaults } = found
  const conflicting = conflicts.map(({ binding, network, id, account, accountInFile }) =>
    withoutControls(
      `The ${binding} ${id} on ${network} belongs to account ${account} here, and to ${accountInFile} in the file: nothing was changed.`,
    ),
  )
  const differing = defaults.conflicts.map(({ account, atDeadline, atDeadlineInFile }) =>
    withoutControls(
      `The account ${account} asks here for ${atDeadline} at the deadlines of new holds, and did for ${atDeadlineInFile} in the file: nothing was changed.`,
    ),
  )
  const withdrawn = defaults.withdrawn.map(({ account, atDeadline }) =>
    withoutControls(
      `The account ${account} asks here for ${atDeadline} at the deadlines of new holds, and the file, which was written later, lacks that: it had been withdrawn. Nothing was changed; the account has to withdraw it again.`,
    ),
  )
  return {
    found: { file, ...found },
    table: [
      `Read ${file}: ${channels.listed} channels, of which the database lacked ${channels.added}, and ${holds.listed} holds, of which it lacked ${holds.added}.`,
      ...(defaults.listed === 0
        ? []
        : [
            `${defaults.listed} accounts state what is done at the deadlines of new holds: the database lacked ${defaults.added} of them, and ${defaults.changed} had asked for something else before.`,
          ]),
      ...(raised === 0 ? [] : [`${raised} channels have a higher voucher, or a higher charge, now.`]),
      ...(withoutAccount === 0
        ? []
        : [
            `${withoutAccount} belong to accounts that the database lacks: no other account can have them, and nothing is signed for them.`,
          ]),
      ...conflicting,
      ...differing,
      ...withdrawn,
    ].join('\n'),
    hasFailed: conflicts.length + defaults.conflicts.length + defaults.withdrawn.length > 0,
  }
}

export const showAccounts = (accounts: readonly Account[]): Found => ({
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

export const showAudit = (entries: readonly AuditEntry[]): Found => ({
  found: entries,
  table: writeTable([
    ['TIME', 'ACTION', 'ACTOR', 'ADDRESS', 'DETAILS'],
    ...entries.map(({ createdAt, action, actor, address, details }) => [
      createdAt.toISOString(),
      action,
      // Key names are user input, which must not control the terminal.
      withoutControls(actor),
      address ?? '-',
      JSON.stringify(details),
    ]),
  ]),
})
