import type {
  AskingForAuthorization,
  Funds,
  FundsHold,
  HoldObstacle,
  Holds,
  TakenBy,
} from '../../src/ports/holds.js'

/** What a verification reserved, and receipts of settlements that no claim has followed. */
interface Held extends FundsHold {
  readonly verified: Pick<FundsHold, 'amount' | 'expiresAt'> | null
  readonly settling: readonly string[]
}

/** Holds of one process, without expiry and other assets; `end` ends one, as a settlement does. */
interface MemoryHolds extends Holds {
  list(): readonly FundsHold[]
  end(authorizationId: string): void
  /** How often one was made. */
  reserved(): number
}

const findTaker = (own: FundsHold | undefined, asking: AskingForAuthorization): TakenBy | null => {
  if (own === undefined) return null
  if (own.account !== 'anonymous' && own.account !== asking.account) return 'account'
  if (own.account !== asking.account) return null
  if (own.purpose.startsWith('stream:') && own.purpose !== asking.purpose) return 'stream'
  if (own.payTo !== asking.payTo) return 'recipient'
  return own.purpose === 'settle' && asking.purpose.startsWith('stream:') ? 'settlement' : null
}

const findObstacle = (
  rows: ReadonlyMap<string, Held>,
  reservation: FundsHold,
  { balance, allowance }: Funds,
): HoldObstacle | null => {
  const { authorizationId, network, asset, payer, spender, account, amount } = reservation
  const found = rows.get(authorizationId)
  const by = findTaker(found, reservation)
  if (by !== null) return { state: 'taken', by }
  const own = found?.account === account ? found : undefined
  if (own !== undefined && own.amount >= amount) return null
  const others = [...rows.values()].filter(
    (row) =>
      row.authorizationId !== authorizationId &&
      row.network === network &&
      row.asset === asset &&
      row.payer === payer &&
      (account === 'anonymous' || row.account !== 'anonymous' || row.purpose === 'settle'),
  )
  const sum = (held: readonly FundsHold[]) => held.reduce((total, row) => total + row.amount, 0n)
  const byPayer = sum(others)
  if (balance !== null && byPayer + amount > balance) {
    return { state: 'exceeds', limit: 'balance', heldByOthers: byPayer }
  }
  const bySpender = sum(others.filter((row) => row.spender === spender))
  return allowance !== null && bySpender + amount > allowance
    ? { state: 'exceeds', limit: 'allowance', heldByOthers: bySpender }
    : null
}

export const createMemoryHolds = (): MemoryHolds => {
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
    covers: async ({ authorizationId, account, payTo, amount, countsAnonymous = false }) => {
      const own = rows.get(authorizationId)
      const isCounted = account !== 'anonymous' || countsAnonymous
      return own?.account === account && isCounted && own.payTo === payTo && own.amount >= amount
    },
    release: async ({ authorizationId, purpose }) => {
      if (rows.get(authorizationId)?.purpose === purpose) rows.delete(authorizationId)
    },
    findObstacle: async (reservation, funds) => findObstacle(rows, reservation, funds),
    place: async (reservation, funds) => {
      const { authorizationId, account, amount } = reservation
      const obstacle = findObstacle(rows, reservation, funds)
      if (obstacle !== null) return obstacle
      const found = rows.get(authorizationId)
      const own = found?.account === account ? found : undefined
      const purpose =
        own?.purpose === 'settle' && reservation.purpose === 'verify' ? 'settle' : reservation.purpose
      const expiresAt = new Date(Math.max(reservation.expiresAt.getTime(), own?.expiresAt.getTime() ?? 0))
      const greatest = own !== undefined && own.amount > amount ? own.amount : amount
      const isNewPromise = reservation.isPromised === true && own?.isPromised !== true
      const isPromised = isNewPromise || own?.isPromised === true
      reserved += 1
      const heldAt = `${reserved}`
      const kept = own?.settling ?? []
      const promisee = own?.isPromised === true ? own.promisee : reservation.promisee
      rows.set(authorizationId, {
        ...reservation,
        purpose,
        expiresAt,
        amount: greatest,
        isPromised,
        ...(promisee === undefined ? {} : { promisee }),
        verified:
          reservation.purpose === 'verify' ? { amount: greatest, expiresAt } : (own?.verified ?? null),
        settling: reservation.purpose === 'settle' ? [...kept, heldAt] : kept,
      })
      return {
        state: 'held',
        receipt: { authorizationId, heldAt },
        ...(isPromised ? { isPromised, ...(promisee === undefined ? {} : { promisee }) } : {}),
        ...(isNewPromise ? { isNewPromise } : {}),
      }
    },
    releaseUnclaimed: async ({ authorizationId, heldAt }) => {
      const row = rows.get(authorizationId)
      if (row?.settling.includes(heldAt) !== true) return
      const settling = row.settling.filter((each) => each !== heldAt)
      const isIdle = row.purpose === 'settle' && settling.length === 0
      if (isIdle && row.verified === null) rows.delete(authorizationId)
      else
        rows.set(authorizationId, {
          ...row,
          settling,
          ...(isIdle ? { purpose: 'verify', ...row.verified } : {}),
        })
    },
    purge: async () => undefined,
  }
}
