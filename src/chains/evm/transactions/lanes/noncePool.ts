import type { Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'

/** Capacity for one transaction in a lane, reserved before its nonce is allocated. */
export interface Slot {
  readonly account: PrivateKeyAccount
  /** Occupies the slot until the nonce is mined. */
  onNonceAllocated(nonce: number): void
  /** Has no effect once a nonce was allocated. */
  release(): void
}

/** This process's view of one network's lanes: which are usable, and how full they are. */
export interface NoncePool {
  /** Takes one of the given account, else of the least full funded one; leased lanes come first. */
  take(address?: Hex): Slot | null
  /** Free slots of funded accounts. */
  countFreeSlots(): number
  /** Resolves when there may be more capacity, or after a timeout. */
  whenSlotFreed(): Promise<void>
  /** Expected time until a transaction sent now is mined, from recent and pending ones. */
  expectInclusionMs(): number
  onMined(address: Hex, nonce: number): void
  /** The chain's transaction count of an account. */
  setMined(address: Hex, count: number): void
  /** Whether this process has a slot or a nonce that is not mined. */
  isInUse(address: Hex): boolean
  /** Whether more is in flight than a lane holds: its nonces were allocated too high. */
  isOverfull(address: Hex): boolean
  /** Called after the lane was rewound. */
  setNext(address: Hex, next: number): void
  /** Accounts whose lanes this process has leased. */
  setLeased(addresses: readonly string[]): void
}

interface LaneState {
  /** Highest nonce allocated by this process, plus one. */
  allocated: number
  /** Highest nonce known to be mined, plus one. */
  mined: number
  /** Slots without a nonce yet. */
  reserved: number
  /** Allocation times of nonces that are not mined. */
  readonly allocatedAt: Map<number, number>
}

/** Nodes keep at least this many transactions per account; some drop the rest (geth: `accountslots` 16). */
export const maxInFlight = 16

// Receipts and maintenance rounds report what is mined; this only bounds a missed report.
const longestWaitMs = 500

/** Weight of the newest transaction in the moving average of inclusion times. */
const weightOfNewest = 0.2

export const createNoncePool = (
  accounts: readonly PrivateKeyAccount[],
  canPay: (address: Hex) => boolean,
): NoncePool => {
  const states = new Map<Hex, LaneState>(
    accounts.map(({ address }) => [address, { allocated: 0, mined: 0, reserved: 0, allocatedAt: new Map() }]),
  )
  const waiters = new Set<() => void>()
  let leased: readonly string[] = []
  /** Moving average; 0 before the first mined transaction. */
  let typicalInclusionMs = 0

  const load = (address: Hex): number => {
    const state = states.get(address)
    return state === undefined ? maxInFlight : Math.max(0, state.allocated - state.mined) + state.reserved
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
      const tookMs = now - at
      typicalInclusionMs =
        typicalInclusionMs === 0
          ? tookMs
          : typicalInclusionMs + weightOfNewest * (tookMs - typicalInclusionMs)
    }
  }
  const listAble = () => accounts.filter(({ address }) => canPay(address))

  const choose = (): PrivateKeyAccount | null => {
    const free = listAble().filter(({ address }) => load(address) < maxInFlight)
    const own = free.filter(({ address }) => leased.includes(address))
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
          // The first allocated nonce initializes the lane.
          if (state.allocated === 0 && state.mined === 0) state.mined = nonce
          state.allocated = Math.max(state.allocated, nonce + 1)
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
      return Math.max(typicalInclusionMs, oldestMs)
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
    isInUse: (address) => load(address) > 0,
    isOverfull: (address) => load(address) > maxInFlight,
    setNext: (address, next) =>
      change(address, (state) => {
        state.allocated = Math.min(state.allocated, next)
        for (const nonce of state.allocatedAt.keys()) if (nonce >= next) state.allocatedAt.delete(nonce)
      }),
    setLeased: (addresses) => {
      leased = addresses
    },
  }
}
