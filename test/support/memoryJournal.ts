import { randomUUID } from 'node:crypto'
import type {
  Recorder,
  Settlement,
  SettlementJournal,
  SignedTransaction,
} from '../../src/ports/settlementJournal.js'
import { hasSharedOutcome } from '../../src/schemes/sharedOutcome.js'

/** An in-memory journal of one process, so every claim is owned until it is released. */
export interface MemoryJournal extends SettlementJournal {
  list(): readonly Settlement[]
  put(fields: Partial<Settlement>): Settlement
  /** Changes a row as another process would; null deletes it. */
  change(id: string, fields: Partial<Settlement> | null): void
}

const blank: Settlement = {
  id: '',
  authorizationId: 'toy:1/nonce-1',
  scheme: 'exact',
  network: 'toy:1',
  asset: 'gold',
  payer: 'alice',
  payTo: 'bob',
  amount: 10_000n,
  authorizedAmount: 10_000n,
  details: {},
  expiresAt: null,
  resource: null,
  caller: 'anonymous',
  fingerprint: 'f',
  state: 'claimed',
  transaction: null,
  broadcasts: [],
  reason: null,
  settledAmount: null,
  gasUsed: null,
  consumedBy: null,
  isOwned: true,
  createdAt: new Date('2026-01-01T00:00:00Z'),
  closedAt: null,
  block: null,
  isFinal: false,
}

export const settlement = (fields: Partial<Settlement> = {}): Settlement => ({
  ...blank,
  id: randomUUID(),
  ...fields,
})

const isRenewable = (row: Pick<Settlement, 'details'>): boolean =>
  hasSharedOutcome(row) || row.details.isRenewable === true

/** Fulfills the contract of the port without a database. */
export const createMemoryJournal = (): MemoryJournal => {
  const rows = new Map<string, Settlement>()
  const consumed = new Set<string>()
  const noteConsumed = ({ authorizationId, state, consumedBy, block, isFinal }: Settlement) => {
    if (consumedBy !== null || (state === 'confirmed' && (block === null || isFinal))) {
      consumed.add(authorizationId)
    }
  }
  const isOpen = (row: Settlement | undefined): row is Settlement =>
    row !== undefined && (row.state === 'claimed' || row.state === 'pending')
  const put = (fields: Partial<Settlement>): Settlement => {
    const row = settlement(fields)
    rows.set(row.id, row)
    return row
  }
  const change = (id: string, fields: Partial<Settlement> | null) => {
    const row = rows.get(id)
    if (fields === null) rows.delete(id)
    else if (row !== undefined) {
      const changed = { ...row, ...fields }
      rows.set(id, changed)
      noteConsumed(changed)
    }
  }
  const findOpen = (authorizationId: string) =>
    [...rows.values()].find(
      (row) => row.authorizationId === authorizationId && (row.state !== 'failed' || row.consumedBy !== null),
    ) ?? null

  /** Settlements for which the transaction was recorded or confirmed. */
  const listCarried = (network: string, transaction: string) =>
    [...rows.values()].filter(
      (row) =>
        row.network === network &&
        (row.transaction === transaction || row.broadcasts.some((each) => each.transaction === transaction)),
    )

  const record = (id: string, signed: SignedTransaction) => {
    const row = rows.get(id)
    if (!isOpen(row) || !row.isOwned) throw new Error('The settlement was taken over')
    const broadcasts = [...row.broadcasts, signed]
    change(id, { state: 'pending', transaction: signed.transaction, broadcasts })
  }

  const recorderFor = (settlementId: string): Recorder => ({
    settlementId,
    record: async (signed, write) => {
      const network = rows.get(settlementId)?.network ?? ''
      // A transaction signed by a payer carries one settlement; a transaction of a lane may carry many.
      if (write !== undefined) await write()
      else if (listCarried(network, signed.transaction).some(({ id }) => id !== settlementId)) {
        throw new Error('The transaction is recorded for another settlement')
      }
      record(settlementId, signed)
    },
  })

  return {
    list: () => [...rows.values()],
    put,
    change,
    claim: async (claim) =>
      findOpen(claim.authorizationId) === null && (isRenewable(claim) || !consumed.has(claim.authorizationId))
        ? put(claim)
        : null,
    findOpen: async (authorizationId) => findOpen(authorizationId),
    isConsumed: async (authorizationId) => consumed.has(authorizationId),
    find: async (id) => rows.get(id) ?? null,
    listByTransaction: async (network, transaction) => listCarried(network, transaction),
    recorderFor,
    close: async (id, closing, consumer, newest = null) => {
      const row = rows.get(id)
      if (!isOpen(row) || (newest !== null && row.transaction !== newest)) return false
      const mayTell = closing.state === 'confirmed' && row.consumedBy === consumer
      if (row.consumedBy !== null && consumer !== undefined && !mayTell) return false
      change(id, {
        state: closing.state,
        transaction: closing.transaction || row.transaction,
        reason: closing.state === 'failed' ? closing.reason : null,
        consumedBy:
          closing.state === 'failed' && isRenewable(row)
            ? null
            : (row.consumedBy ?? (closing.state === 'confirmed' ? (consumer ?? null) : null)),
        block: closing.state === 'confirmed' ? (closing.block ?? null) : null,
        settledAmount: closing.state === 'confirmed' ? (closing.settledAmount ?? row.amount) : null,
        gasUsed: closing.state === 'confirmed' ? (closing.gasUsed ?? null) : null,
        isOwned: false,
        closedAt: new Date(),
      })
      return true
    },
    abandon: async (id) => {
      if (rows.get(id)?.state !== 'claimed') return false
      change(id, { state: 'failed', reason: 'settlement_abandoned', isOwned: false, closedAt: new Date() })
      return true
    },
    release: async (id) => {
      if (isOpen(rows.get(id))) change(id, { isOwned: false })
    },
    takeOver: async ({ id, transaction }) => {
      const row = rows.get(id)
      if (row?.state !== 'pending' || row.isOwned || row.transaction !== transaction) return null
      change(id, { isOwned: true })
      return recorderFor(id)
    },
    consume: async (id, consumer) => {
      const row = rows.get(id)
      if (row?.state !== 'confirmed' || (row.consumedBy ?? consumer) !== consumer) return false
      change(id, { consumedBy: consumer })
      return true
    },
    listOrphaned: async (limit) =>
      [...rows.values()].filter((row) => isOpen(row) && !row.isOwned).slice(0, limit),
  }
}
