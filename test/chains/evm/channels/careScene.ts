import { expect } from 'vitest'
import { readChannel } from '../../../support/evm/channels.js'
import type { LocalChain } from '../../../support/evm/localChain.js'
import type { EoaWallet } from '../../../support/evm/wallets.js'
import type { Service } from '../scene.js'
import { type Channel, callSettlement, voucherBody } from './channelScene.js'

/* Channels whose receiver this facilitator signs for. */

/** Vouchers are claimed from 2,000 on, and receivers paid from 5,000 on. */
export const careEnvironment = ({ chainId }: LocalChain, { privateKey }: EoaWallet) => ({
  EVM_CHANNEL_AUTHORIZER_KEY: privateKey,
  // A row of a claim counts as a quarter: 100.
  [`EVM_MIN_PAYMENT_${chainId}`]: '400',
  EVM_CHANNEL_CLAIM_WORTH: '20',
  EVM_CHANNEL_SWEEP_AMOUNT: '5000',
})

let accounts = 0
/** Accounts of their own, so that no test sees the events of another. */
export const newAccount = () => `account-${process.pid}-${accounts++}`

/** The price of each request is 1,000. */
export const payBy = async (
  service: Service,
  channel: Channel,
  ceiling: bigint,
  account: string,
): Promise<void> => {
  expect(await service.verify(await voucherBody(channel, ceiling), account)).toMatchObject({ isValid: true })
}

export const runJob = async ({ core }: Service, name: string): Promise<void> => {
  const job = core.jobs.find((each) => each.name === name)
  if (job === undefined) throw new Error(`There is no job ${name}`)
  await job.run(new AbortController().signal)
}

export const claimedOf = async ({ chain, config }: Channel): Promise<bigint> =>
  (await readChannel(chain, config)).totalClaimed

export const withdraw = (channel: Channel, amount = 1_000n): Promise<void> =>
  callSettlement(channel, channel.config.payer, 'initiateWithdraw', [channel.config, amount])
