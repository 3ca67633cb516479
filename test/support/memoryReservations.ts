import type {
  AskingForAuthorization,
  Reservation,
  Reservations,
  TakenBy,
} from '../../src/ports/reservations.js'

/** What a verification reserved, and receipts of settlements that no claim has followed. */
interface Held extends Reservation {
  readonly verified: Pick<Reservation, 'amount' | 'expiresAt'> | null
  readonly settling: readonly string[]
}

/** Reservations of one process, without expiry and other assets; `end` ends one, as a settlement does. */
export interface MemoryReservations extends Reservations {
  list(): readonly Reservation[]
  end(authorizationId: string): void
  /** How often one was made. */
  reserved(): number
}

const findTaker = (own: Reservation | undefined, asking: AskingForAuthorization): TakenBy | null => {
  if (own === undefined) return null
  if (own.account !== 'anonymous' && own.account !== asking.account) return 'account'
  if (own.account !== asking.account) return null
  if (own.holder.startsWith('stream:') && own.holder !== asking.holder) return 'stream'
  if (own.payTo !== asking.payTo) return 'recipient'
  return own.holder === 'settle' && asking.holder.startsWith('stream:') ? 'settlement' : null
}

export const createMemoryReservations = (): MemoryReservations => {
  const rows = new Map<string, Held>()
  let reserved = 0
  return {
    reserved: () => reserved,
    list: () => [...rows.values()],
    end: (authorizationId) => void rows.delete(authorizationId),
    countPromised: async (network) => {
      const promised = [...rows.values()].filter((row) => row.network === network && row.isPromised === true)
      return promised.map(({ account, promisee = { part: account, customer: account } }) => ({
        ...promisee,
        count: 1,
      }))
    },
    needsPromise: async ({ authorizationId, account }) => {
      const own = rows.get(authorizationId)
      return own?.isPromised !== true || own.account !== account
    },
    findTaker: async (asking) => findTaker(rows.get(asking.authorizationId), asking),
    covers: async ({ authorizationId, account, payTo, amount }) => {
      const own = rows.get(authorizationId)
      return (
        own?.account === account && account !== 'anonymous' && own.payTo === payTo && own.amount >= amount
      )
    },
    release: async ({ authorizationId, holder }) => {
      if (rows.get(authorizationId)?.holder === holder) rows.delete(authorizationId)
    },
    reserve: async (reservation, { balance, allowance }) => {
      const { authorizationId, network, asset, payer, spender, account, amount } = reservation
      const found = rows.get(authorizationId)
      const by = findTaker(found, reservation)
      if (by !== null) return { state: 'taken', by }
      const own = found?.account === account ? found : undefined
      if (own === undefined || own.amount < amount) {
        const others = [...rows.values()].filter(
          (row) =>
            row.authorizationId !== authorizationId &&
            row.network === network &&
            row.asset === asset &&
            row.payer === payer &&
            (account === 'anonymous' || row.account !== 'anonymous' || row.holder === 'settle'),
        )
        const sum = (held: readonly Reservation[]) => held.reduce((total, row) => total + row.amount, 0n)
        const byPayer = sum(others)
        if (balance !== null && byPayer + amount > balance) {
          return { state: 'exceeds', limit: 'balance', heldByOthers: byPayer }
        }
        const bySpender = sum(others.filter((row) => row.spender === spender))
        if (allowance !== null && bySpender + amount > allowance) {
          return { state: 'exceeds', limit: 'allowance', heldByOthers: bySpender }
        }
      }
      const holder =
        own?.holder === 'settle' && reservation.holder === 'verify' ? 'settle' : reservation.holder
      const expiresAt = new Date(Math.max(reservation.expiresAt.getTime(), own?.expiresAt.getTime() ?? 0))
      const greatest = own !== undefined && own.amount > amount ? own.amount : amount
      const isNewPromise = reservation.isPromised === true && own?.isPromised !== true
      const isPromised = isNewPromise || own?.isPromised === true
      reserved += 1
      const reservedAt = `${reserved}`
      const kept = own?.settling ?? []
      const promisee = own?.isPromised === true ? own.promisee : reservation.promisee
      rows.set(authorizationId, {
        ...reservation,
        holder,
        expiresAt,
        amount: greatest,
        isPromised,
        ...(promisee === undefined ? {} : { promisee }),
        verified: reservation.holder === 'verify' ? { amount: greatest, expiresAt } : (own?.verified ?? null),
        settling: reservation.holder === 'settle' ? [...kept, reservedAt] : kept,
      })
      return {
        state: 'reserved',
        receipt: { authorizationId, reservedAt },
        ...(isPromised ? { isPromised, ...(promisee === undefined ? {} : { promisee }) } : {}),
        ...(isNewPromise ? { isNewPromise } : {}),
      }
    },
    releaseUnclaimed: async ({ authorizationId, reservedAt }) => {
      const row = rows.get(authorizationId)
      if (row?.settling.includes(reservedAt) !== true) return
      const settling = row.settling.filter((each) => each !== reservedAt)
      const isIdle = row.holder === 'settle' && settling.length === 0
      if (isIdle && row.verified === null) rows.delete(authorizationId)
      else
        rows.set(authorizationId, {
          ...row,
          settling,
          ...(isIdle ? { holder: 'verify', ...row.verified } : {}),
        })
    },
    purge: async () => undefined,
  }
}
