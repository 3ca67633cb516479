interface PermissionKey {
  readonly address: string
  readonly weight: number
}

export interface Permission {
  readonly threshold: number
  readonly keys: readonly PermissionKey[]
}

/** Amounts in sun, addresses as 21 bytes in hex. */
export interface TronAccount {
  readonly address: string
  balance: number
  owner: Permission
  /** Staked for energy and not delegated. */
  staked: number
  /** Delegated by others, by owner. */
  readonly delegatedFrom: Map<string, number>
  energyUsed: number
  bandwidthUsed: number
}

export type Accounts = Map<string, TronAccount>

/** Per day and account. */
export const freeBandwidth = 600

const sunPerTrx = 1_000_000

/** 10 energy per staked TRX. */
export const network = { energy: 180_000_000_000, staked: 18_000_000_000 }

/** In sun per unit of energy and per byte. */
export const prices = { energy: 100, bandwidth: 1_000 }

/** Creates the account if it does not exist. */
export const openAccount = (accounts: Accounts, address: string): TronAccount => {
  const known = accounts.get(address)
  if (known !== undefined) return known
  const made: TronAccount = {
    address,
    balance: 0,
    owner: { threshold: 1, keys: [{ address, weight: 1 }] },
    staked: 0,
    delegatedFrom: new Map(),
    energyUsed: 0,
    bandwidthUsed: 0,
  }
  accounts.set(address, made)
  return made
}

export const energyOf = (sun: number): number =>
  Math.floor(((sun / sunPerTrx) * network.energy) / network.staked)

/** Per day, own and delegated. */
export const energyLimitOf = ({ staked, delegatedFrom }: TronAccount): number =>
  energyOf(staked + [...delegatedFrom.values()].reduce((sum, each) => sum + each, 0))

export const energyLeft = (account: TronAccount): number =>
  Math.max(0, energyLimitOf(account) - account.energyUsed)
