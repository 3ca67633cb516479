import { beginCell } from '@ton/core'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { HourlyBudget } from '../../../../src/chains/common/hourlyBudget.js'
import type { TonNetworkSettings } from '../../../../src/chains/ton/settings.js'
import { createRelayMaintenance } from '../../../../src/chains/ton/transactions/relayMaintenance.js'
import {
  createRelayWallets,
  deriveRelayKey,
  type RelayWallet,
} from '../../../../src/chains/ton/transactions/relayWallets.js'
import { Secret } from '../../../../src/platform/secret.js'
import { createMemoryLanes } from '../../../support/memoryLanes.js'
import { createMemoryLogger } from '../../../support/memoryLogger.js'
import { facilitatorMnemonic } from '../../../support/ton/facilitatorMnemonic.js'

let wallets: readonly RelayWallet[]
beforeAll(async () => {
  wallets = createRelayWallets(await deriveRelayKey(new Secret(facilitatorMnemonic)), -3, 2)
})

const closers: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

/** Wallets at seqno 7, whose lanes are at 10 without a message. */
const setup = (spend: HourlyBudget['spend'] = async () => () => undefined) => {
  const logger = createMemoryLogger()
  const sent: string[] = []
  const filled: string[] = []
  let timestamp = 1_000
  let seqno = 7
  const account = () => ({
    state: 'active' as const,
    balance: 1_000_000_000n,
    code: null,
    data: beginCell().storeBit(true).storeUint(seqno, 32).endCell(),
    timestamp,
    newest: null,
  })
  const unused = async () => {
    throw new Error('is not asked')
  }
  const rpc = {
    readAccount: async () => account(),
    send: async (bytes: string) => void sent.push(bytes),
    runGetMethod: unused,
    listTransactions: unused,
    findResultTransaction: unused,
    probe: unused,
    listHealth: () => [],
  }
  const network: Pick<TonNetworkSettings, 'network'> = { network: 'ton:testnet' }
  const lanes = {
    ...createMemoryLanes(),
    readNext: async () => 10,
    fillNonceGap: async ({ signer }: { signer: string }, nonce: number) => {
      filled.push(`${signer} ${nonce}`)
      return { transaction: 'filler', bytes: `filler ${nonce}` }
    },
  }
  const maintenance = createRelayMaintenance({
    network,
    rpc,
    listWitnesses: () => [],
    wallets,
    lanes,
    budget: { spend, spendUrgent: async () => () => undefined, checkPromise: async () => () => undefined },
    logger,
  })
  closers.push(() => maintenance.close())
  return {
    maintenance,
    logger,
    sent,
    filled,
    pass: (seconds: number) => {
      timestamp += seconds
    },
    moveOn: () => {
      seqno = 10
    },
  }
}

describe('fillers of a gap', () => {
  it('are drawn from the relay budget, and of no caller', async () => {
    const draws: (readonly [number, string | null])[] = []
    const { maintenance, filled, sent } = setup(async (cost, caller) => {
      draws.push([cost, caller])
      return () => undefined
    })
    await maintenance.check()
    expect(filled).toEqual([])
    await maintenance.check()
    expect(filled).toEqual(wallets.map(({ signer }) => `${signer} 7`))
    expect(sent).toEqual(['filler 7', 'filler 7'])
    expect(draws).toEqual([
      [5_000_000, null],
      [5_000_000, null],
    ])
    expect(wallets.map(({ signer }) => maintenance.countRepairs(signer))).toEqual([1, 1])
  })

  it('are not sent beyond it, which does not stop the other wallets', async () => {
    let draws = 0
    const { maintenance, filled, logger } = setup(async () => {
      draws += 1
      if (draws === 1) throw new Error('The hourly relay budget is spent')
      return () => undefined
    })
    await maintenance.check()
    await maintenance.check()
    expect(filled).toEqual([`${wallets[1]?.signer} 7`])
    expect(logger.messages()).toContain('lane.check_failed')
  })
})

describe('a lane that waits for its next message', () => {
  it('is stuck after a minute of chain time, and says so until it moves', async () => {
    const { maintenance, logger, pass, moveOn } = setup()
    await maintenance.check()
    await maintenance.check()
    pass(59)
    await maintenance.check()
    expect(maintenance.listStuck()).toEqual([])
    pass(1)
    await maintenance.check()
    await maintenance.check()
    expect(maintenance.listStuck()).toEqual(wallets.map(({ signer }) => signer))
    expect(logger.messages().filter((message) => message === 'relay.lane_stuck')).toHaveLength(2)
    moveOn()
    await maintenance.check()
    expect(maintenance.listStuck()).toEqual([])
    expect(logger.messages()).toContain('relay.lane_recovered')
  })
})
