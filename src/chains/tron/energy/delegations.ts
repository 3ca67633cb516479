import { z } from 'zod'
import { readAddress, type TronAddress } from '../encoding/address.js'
import type { TronRpc } from '../rpc/rpc.js'

const whole = z.int().nonnegative()
const maxSizeShape = z.object({ max_size: whole.default(0) })
const receiversShape = z.object({ toAccounts: z.array(z.string()).default([]) })
const delegatedShape = z.object({
  delegatedResource: z.array(z.object({ frozen_balance_for_energy: whole.default(0) })).default([]),
})

const energyType = 1
const sunPerTrx = 1_000_000

/** What an account can lend now. */
export interface DelegableEnergy {
  /** Of its staked TRX. */
  readonly sun: number
  /** What these give, as far as it is not used up. */
  readonly energy: number
  /** How much TRX, in sun, has to be lent for a unit of energy. */
  readonly sunPerEnergy: number
}

/** Reads what an account can lend now. */
export const readDelegableEnergy = async (node: TronRpc, owner: TronAddress): Promise<DelegableEnergy> => {
  const [{ max_size: sun }, { totalEnergy, totalStaked, energy: unused }] = await Promise.all([
    node.ask('/wallet/getcandelegatedmaxsize', { owner_address: owner, type: energyType }, maxSizeShape),
    node.getResources(owner),
  ])
  const sunPerEnergy = (totalStaked * sunPerTrx) / Math.max(1, totalEnergy)
  // What we used up ourselves comes back in the course of a day.
  return { sun, energy: Math.min(Math.floor(sun / Math.max(1, sunPerEnergy)), unused), sunPerEnergy }
}

/** Who has energy of an account. */
export const listReceivers = async (node: TronRpc, owner: TronAddress): Promise<readonly TronAddress[]> => {
  const { toAccounts } = await node.ask(
    '/wallet/getdelegatedresourceaccountindexv2',
    { value: owner, visible: false },
    receiversShape,
  )
  return toAccounts.map(readAddress).filter((address) => address !== null)
}

/** How much of its staked TRX, in sun, an account has lent to another for energy. */
export const findDelegated = async (node: TronRpc, from: TronAddress, to: TronAddress): Promise<number> => {
  const { delegatedResource } = await node.ask(
    '/wallet/getdelegatedresourcev2',
    { fromAddress: from, toAddress: to, visible: false },
    delegatedShape,
  )
  return delegatedResource.reduce((sum, { frozen_balance_for_energy: sun }) => sum + sun, 0)
}
