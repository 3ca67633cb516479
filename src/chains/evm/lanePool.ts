import type { Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'

/** The lanes of one network as this process sees them: which may be used, and how full they are. */
export interface LanePool {
  /** The least full account that can pay and has room, ours to look after first; null when there is none. */
  choose(): PrivateKeyAccount | null
  /** How many transactions the accounts that can pay still take before the pools of nodes may drop some. */
  countRoom(): number
  /** Resolves when a transaction was mined, or soon. */
  whenRoom(): Promise<void>
  noteDrawn(address: Hex, nonce: number): void
  noteMined(address: Hex, nonce: number): void
  /** What the chain says: how many transactions of an account are mined. */
  setMined(address: Hex, count: number): void
  /** Which accounts this process looks after. */
  setHeld(addresses: readonly string[]): void
}

interface LaneState {
  /** One more than the highest number that is known to be drawn. */
  drawn: number
  /** One more than the highest number that is known to be mined. */
  mined: number
}

/** Nodes keep at least so many transactions of one account; some drop what is beyond (geth: `accountslots` 16). */
export const maxInFlight = 16

// Mining is noticed by receipts and by rounds; this only bounds a missed one.
const longestWaitMs = 500

/** Builds the pool of one network. */
export const createLanePool = (
  accounts: readonly PrivateKeyAccount[],
  canPay: (address: Hex) => boolean,
): LanePool => {
  const states = new Map<Hex, LaneState>(accounts.map(({ address }) => [address, { drawn: 0, mined: 0 }]))
  const waiters = new Set<() => void>()
  let held: readonly string[] = []

  const inFlight = (address: Hex): number => {
    const state = states.get(address)
    return state === undefined ? 0 : Math.max(0, state.drawn - state.mined)
  }
  const change = (address: Hex, update: (state: LaneState) => void) => {
    const state = states.get(address)
    if (state === undefined) return
    update(state)
    for (const wake of waiters) wake()
  }
  const listAble = () => accounts.filter(({ address }) => canPay(address))

  return {
    choose: () => {
      const free = listAble().filter(({ address }) => inFlight(address) < maxInFlight)
      const own = free.filter(({ address }) => held.includes(address))
      const [first, ...rest] = own.length > 0 ? own : free
      if (first === undefined) return null
      return rest.reduce(
        (best, each) => (inFlight(each.address) < inFlight(best.address) ? each : best),
        first,
      )
    },
    countRoom: () =>
      listAble().reduce((room, { address }) => room + Math.max(0, maxInFlight - inFlight(address)), 0),
    whenRoom: () =>
      new Promise((resolve) => {
        const wake = () => {
          clearTimeout(timer)
          waiters.delete(wake)
          resolve()
        }
        const timer = setTimeout(wake, longestWaitMs)
        waiters.add(wake)
      }),
    noteDrawn: (address, nonce) =>
      change(address, (state) => {
        // The first number that this process draws says where the lane stands.
        if (state.drawn === 0 && state.mined === 0) state.mined = nonce
        state.drawn = Math.max(state.drawn, nonce + 1)
      }),
    noteMined: (address, nonce) =>
      change(address, (state) => {
        state.mined = Math.max(state.mined, nonce + 1)
      }),
    setMined: (address, count) =>
      change(address, (state) => {
        state.mined = count
        state.drawn = Math.max(state.drawn, count)
      }),
    setHeld: (addresses) => {
      held = addresses
    },
  }
}
