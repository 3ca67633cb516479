/** A key of a permission, and what it weighs. */
export interface PermissionKey {
  readonly address: string
  readonly weight: number
}

/** Who may sign for an account. */
export interface Permission {
  readonly threshold: number
  readonly keys: readonly PermissionKey[]
}

/** An account as the chain keeps it; amounts in sun, addresses as 21 bytes in hex. */
export interface TronAccount {
  readonly address: string
  balance: number
  owner: Permission
  /** TRX that is staked for energy and not lent to others. */
  staked: number
  /** What others lend to it, by lender. */
  readonly borrowed: Map<string, number>
  energyUsed: number
  bandwidthUsed: number
}

/** Every account of the chain. */
export type Accounts = Map<string, TronAccount>

/** What a day gives to everyone. */
export const freeBandwidth = 600

const sunPerTrx = 1_000_000

/** How much energy the whole network gives, and for how much staked TRX: ten energy for each. */
export const network = { energy: 180_000_000_000, staked: 18_000_000_000 }

/** What a unit of energy costs, and a byte of bandwidth, to those who have none. */
export const prices = { energy: 100, bandwidth: 1_000 }

/** The account at an address; it is made where there is none. */
export const openAccount = (accounts: Accounts, address: string): TronAccount => {
  const known = accounts.get(address)
  if (known !== undefined) return known
  const made: TronAccount = {
    address,
    balance: 0,
    owner: { threshold: 1, keys: [{ address, weight: 1 }] },
    staked: 0,
    borrowed: new Map(),
    energyUsed: 0,
    bandwidthUsed: 0,
  }
  accounts.set(address, made)
  return made
}

/** The energy that an amount of staked sun gives. */
export const energyOf = (sun: number): number =>
  Math.floor(((sun / sunPerTrx) * network.energy) / network.staked)

/** All the energy that an account may use in a day. */
export const energyLimitOf = ({ staked, borrowed }: TronAccount): number =>
  energyOf(staked + [...borrowed.values()].reduce((sum, each) => sum + each, 0))

/** What an account may still use without paying for it. */
export const energyLeft = (account: TronAccount): number =>
  Math.max(0, energyLimitOf(account) - account.energyUsed)
