import { beforeEach, expect } from 'vitest'
import { emptyTables } from '../../../support/emptyTables.js'
import { readChannel } from '../../../support/evm/channels.js'
import type { LocalChain } from '../../../support/evm/localChain.js'
import { createEoa, type EoaWallet } from '../../../support/evm/wallets.js'
import { shiftedClock } from '../../../support/shiftedClock.js'
import { useScene } from '../../../support/useScene.js'
import { openScene, type Service, type ServiceOptions } from '../scene.js'
import {
  type Channel,
  type ChannelPlan,
  callSettlement,
  openChannelOnChain,
  voucherBody,
} from './channelScene.js'

/* Channels whose receiver this facilitator signs for. */

/** Vouchers are claimed from 2,000 on, and receivers paid from 5,000 on. */
export const careEnvironment = ({ chainId }: LocalChain, { privateKey }: EoaWallet) => ({
  EVM_CHANNEL_AUTHORIZER_KEY: privateKey,
  // A row of a claim counts as a quarter: 100.
  [`EVM_MIN_PAYMENT_${chainId}`]: '400',
  EVM_CHANNEL_CLAIM_WORTH: '20',
  EVM_CHANNEL_SWEEP_AMOUNT: '5000',
})

/** For a suite: services that care for the channels of `authorizer`. Tables, clock and service are new for each test. */
export const useCare = () => {
  const scene = useScene(() => openScene({ hasBatchSettlement: true }))
  const authorizer = createEoa()
  let clock = shiftedClock()
  let service: Service

  const openService = (options: ServiceOptions = {}): Promise<Service> =>
    scene.open({
      clock,
      ...options,
      environment: { ...careEnvironment(scene.chain, authorizer), ...options.environment },
    })

  beforeEach(async () => {
    await emptyTables(scene.database.pool(), 'channel_vouchers', 'channel_sweeps', 'channel_sweep_shares')
    clock = shiftedClock()
    service = await openService()
  })

  return {
    scene,
    authorizer,
    openService,
    open: (changes: ChannelPlan = {}, amount = 100_000n): Promise<Channel> =>
      openChannelOnChain(scene.chain, { authorizer, ...changes }, amount),
    pay: (channel: Channel, ceiling: bigint, account: string, by = service): Promise<void> =>
      payBy(by, channel, ceiling, account),
    run: (name: string, by = service): Promise<void> => runJob(by, name),
    get clock() {
      return clock
    },
    get service() {
      return service
    },
    /** For the rest of the test. */
    replaceService: async (options: ServiceOptions) => {
      service = await openService(options)
    },
  }
}

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
