import type { Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { createInclusionTimes } from './inclusionTimes.js'

/** Room for one transaction in a lane, taken before its number is drawn. */
export interface Slot {
  readonly account: PrivateKeyAccount
  /** A number was drawn: from now on the transaction fills the place until it is mined. */
  onNonceAllocated(nonce: number): void
  /** Gives the place back, unless a number was drawn. */
  release(): void
}

/** The lanes of one network as this process sees them: which may be used, and how full they are. */
export interface NoncePool {
  /** A place with one account, or else with the least full one that can pay, ours to look after first. */
  take(address?: Hex): Slot | null
  /** How many transactions the accounts that can pay still take before the pools of nodes may drop some. */
  countFreeSlots(): number
  /** Resolves when there may be more room than before, or soon. */
  whenSlotFreed(): Promise<void>
  /** How long a transaction that is sent now is likely to take: as long as others did, or still do. */
  expectInclusionMs(): number
  onMined(address: Hex, nonce: number): void
  /** What the chain says: how many transactions of an account are mined. */
  setMined(address: Hex, count: number): void
  /** Which accounts this process looks after. */
  setLeased(addresses: readonly string[]): void
}

interface LaneState {
  /** One more than the highest number that this process drew. */
  drawn: number
  /** One more than the highest number that is known to be mined. */
  mined: number
  /** Places that are taken and have no number yet. */
  reserved: number
  /** When this process drew the numbers that are not mined. */
  readonly allocatedAt: Map<number, number>
}

/** Nodes keep at least so many transactions of one account; some drop what is beyond (geth: `accountslots` 16). */
export const maxInFlight = 16

// Mining is noticed by receipts and by rounds; this only bounds a missed one.
const longestWaitMs = 500

/** Builds the pool of one network. */
export const createNoncePool = (
  accounts: readonly PrivateKeyAccount[],
  canPay: (address: Hex) => boolean,
): NoncePool => {
  const states = new Map<Hex, LaneState>(
    accounts.map(({ address }) => [address, { drawn: 0, mined: 0, reserved: 0, allocatedAt: new Map() }]),
  )
  const inclusion = createInclusionTimes()
  const waiters = new Set<() => void>()
  let held: readonly string[] = []

  const load = (address: Hex): number => {
    const state = states.get(address)
    return state === undefined ? maxInFlight : Math.max(0, state.drawn - state.mined) + state.reserved
  }
  const change = (address: Hex, update: (state: LaneState) => void) => {
    const state = states.get(address)
    if (state === undefined) return
    update(state)
    for (const wake of waiters) wake()
  }
  const forgetMined = (state: LaneState) => {
    const now = performance.now()
    for (const [nonce, at] of state.allocatedAt) {
      if (nonce >= state.mined) continue
      state.allocatedAt.delete(nonce)
      inclusion.record(now - at)
    }
  }
  const listAble = () => accounts.filter(({ address }) => canPay(address))

  const choose = (): PrivateKeyAccount | null => {
    const free = listAble().filter(({ address }) => load(address) < maxInFlight)
    const own = free.filter(({ address }) => held.includes(address))
    const [first, ...rest] = own.length > 0 ? own : free
    if (first === undefined) return null
    return rest.reduce((best, each) => (load(each.address) < load(best.address) ? each : best), first)
  }

  const openSlot = (account: PrivateKeyAccount): Slot => {
    let isReserved = true
    const { address } = account
    const release = () => {
      if (!isReserved) return
      isReserved = false
      change(address, (state) => {
        state.reserved -= 1
      })
    }
    change(address, (state) => {
      state.reserved += 1
    })
    return {
      account,
      release,
      onNonceAllocated: (nonce) => {
        change(address, (state) => {
          // The first number that this process draws says where the lane stands.
          if (state.drawn === 0 && state.mined === 0) state.mined = nonce
          state.drawn = Math.max(state.drawn, nonce + 1)
          state.allocatedAt.set(nonce, performance.now())
        })
        release()
      },
    }
  }

  return {
    take: (address) => {
      const account =
        address === undefined
          ? choose()
          : accounts.find((each) => each.address === address && load(address) < maxInFlight)
      return account == null ? null : openSlot(account)
    },
    countFreeSlots: () =>
      listAble().reduce((room, { address }) => room + Math.max(0, maxInFlight - load(address)), 0),
    whenSlotFreed: () =>
      new Promise((resolve) => {
        const wake = () => {
          clearTimeout(timer)
          waiters.delete(wake)
          resolve()
        }
        const timer = setTimeout(wake, longestWaitMs)
        waiters.add(wake)
      }),
    expectInclusionMs: () => {
      const since = [...states.values()].flatMap(({ allocatedAt }) => [...allocatedAt.values()])
      const oldestMs = since.length === 0 ? 0 : performance.now() - Math.min(...since)
      return Math.max(inclusion.typicalMs, oldestMs)
    },
    onMined: (address, nonce) =>
      change(address, (state) => {
        state.mined = Math.max(state.mined, nonce + 1)
        forgetMined(state)
      }),
    setMined: (address, count) =>
      change(address, (state) => {
        state.mined = count
        forgetMined(state)
      }),
    setLeased: (addresses) => {
      held = addresses
    },
  }
}
