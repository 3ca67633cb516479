import type { Reservation, Reservations } from '../../src/ports/reservations.js'

/** Reservations of one process, without expiry and holders; `end` ends one, as a settlement does. */
export interface MemoryReservations extends Reservations {
  list(): readonly Reservation[]
  end(authorizationId: string): void
}

export const createMemoryReservations = (): MemoryReservations => {
  const rows = new Map<string, Reservation>()
  return {
    list: () => [...rows.values()],
    end: (authorizationId) => void rows.delete(authorizationId),
    release: async ({ authorizationId }) => void rows.delete(authorizationId),
    reserve: async (reservation, { balance, allowance }) => {
      const { authorizationId, network, asset, payer, spender, payTo, amount } = reservation
      const own = rows.get(authorizationId)
      if (own !== undefined && own.payTo !== payTo) return { state: 'taken', by: 'recipient' }
      if (own === undefined || own.amount < amount) {
        const others = [...rows.values()].filter(
          (row) =>
            row.authorizationId !== authorizationId &&
            row.network === network &&
            row.asset === asset &&
            row.payer === payer,
        )
        const sum = (held: readonly Reservation[]) => held.reduce((total, row) => total + row.amount, 0n)
        const byPayer = sum(others)
        if (byPayer + amount > balance) return { state: 'exceeds', limit: 'balance', heldByOthers: byPayer }
        const bySpender = sum(others.filter((row) => row.spender === spender))
        if (allowance !== null && bySpender + amount > allowance) {
          return { state: 'exceeds', limit: 'allowance', heldByOthers: bySpender }
        }
      }
      rows.set(authorizationId, reservation)
      return { state: 'reserved' }
    },
    purge: async () => undefined,
  }
}
