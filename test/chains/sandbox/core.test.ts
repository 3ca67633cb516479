import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AnyChainFamily } from '../../../src/chains/chain.js'
import { knownNetworks } from '../../../src/chains/evm/networks.js'
import { families } from '../../../src/chains/index.js'
import { composeCore } from '../../../src/compose.js'
import { readConfig } from '../../../src/config.js'
import { silentLogger } from '../../../src/platform/logger.js'
import type { ScenarioScript } from '../../../src/ports/sandbox.js'
import { environmentFor } from '../../support/core.js'
import { type CoreClient, createCoreClient, reconcileUntil } from '../../support/coreClient.js'
import { exactPayment } from '../../support/evm/payment.js'
import { uptoPayment } from '../../support/evm/upto.js'
import { createEoa } from '../../support/evm/wallets.js'
import { createTestDatabase, type TestDatabase } from '../../support/postgres.js'
import { createMemoryScenarios } from '../../support/sandbox/scenarios.js'
import { standingClock } from '../../support/shiftedClock.js'
import { openScene, type Scene, scenarioBody } from './scene.js'

let database: TestDatabase
let client: CoreClient
let scene: Scene
// Neither a minute nor two blocks pass while the machine is busy.
const clock = standingClock()
const scenarios = createMemoryScenarios()

/** Opens the family with the scenarios of this test. */
const withScenarios = (family: AnyChainFamily): AnyChainFamily => ({
  ...family,
  prepare: (environment) => {
    const preparation = family.prepare(environment)
    if ('problems' in preparation || preparation.open === null) return preparation
    const { open } = preparation
    return { open: (context) => open({ ...context, scenarios }) }
  },
})

beforeAll(async () => {
  database = await createTestDatabase({ isSandbox: true })
  const environment = environmentFor({ databaseUrl: database.url, environment: { SANDBOX: 'true' } })
  const config = readConfig(environment, families.map(withScenarios))
  client = createCoreClient(
    await composeCore(config, { clock, logger: silentLogger, measuresProcess: false }),
  )
  scene = await openScene()
})
afterAll(async () => {
  await client.core.close()
  await database.drop()
})

const verifyingContract = knownNetworks.find(({ chainId }) => chainId === 84532)?.tokens[0]?.address ?? '0x'
const chain = {
  network: 'eip155:84532',
  token: { name: 'USDC', version: '2', chainId: 84532, verifyingContract },
}

const ready = (suffix: string) => {
  const found = scene.sandbox
    .listAddresses(clock.now())
    .find(({ address }) => address.toLowerCase().endsWith(suffix))
  if (found === undefined) throw new Error(`There is no ${suffix}`)
  return found.request
}

describe('the service on the sandbox', () => {
  it('settles a signed payment once, as on a chain', async () => {
    const body = await exactPayment({ chain, wallet: createEoa() })
    expect(await client.verify(body)).toMatchObject({ isValid: true })
    const settled = await client.settle(body)
    expect(settled).toMatchObject({ success: true, transaction: expect.stringMatching(/^0x5a4db0/) })
    expect(await client.settle(body)).toMatchObject({
      success: false,
      errorReason: 'duplicate_settlement',
      transaction: settled.transaction,
    })
    expect(await client.verify(body)).toMatchObject({ isValid: false, invalidReason: 'duplicate_settlement' })
  })

  it('settles a part of what a permit allows', async () => {
    const router = client.core.useCases.core.listSupported().kinds.find(({ scheme }) => scheme === 'upto')
      ?.extra?.facilitatorAddress as `0x${string}`
    const body = await uptoPayment({ chain, wallet: createEoa(), router })
    expect(await client.verify(body)).toMatchObject({ isValid: true })
    expect(await client.settle({ ...body, settleAmount: '2500' })).toMatchObject({ success: true })
    expect(await client.settle({ ...body, settleAmount: '2500' })).toMatchObject({
      errorReason: 'duplicate_settlement',
    })
  })

  it('settles a ready request once; the next one of the same payer is another payment', async () => {
    const body = ready('cafe11')
    expect(await client.settle(body)).toMatchObject({ success: true })
    expect(await client.settle(body)).toMatchObject({ errorReason: 'duplicate_settlement' })
    expect(await client.settle(ready('cafe11'))).toMatchObject({ success: true })
  })

  it('refuses insufficient funds at /settle, as often as it is asked', async () => {
    const body = ready('cafe12')
    expect(await client.verify(body)).toMatchObject({ isValid: true })
    for (const _ of [1, 2]) {
      expect(await client.settle(body)).toMatchObject({ success: false, errorReason: 'insufficient_funds' })
    }
  })

  it('answers settlement_pending, and the reconciler confirms it 60 s later', async () => {
    const body = ready('cafe13')
    const pending = await client.settle(body)
    expect(pending).toMatchObject({ success: false, errorReason: 'settlement_pending', status: 'pending' })
    await client.reconcile()
    expect(await find(pending.settlementId)).toMatchObject({ status: 'pending' })
    clock.shift(60_000)
    expect(await reconcileUntil(client, pending, 'confirmed')).toMatchObject({
      transaction: pending.transaction,
    })
    expect(await client.settle(body)).toMatchObject({ success: true, transaction: pending.transaction })
  })

  const find = (id: string | undefined) => client.core.useCases.core.getSettlement(id ?? '')
  const play = (script: Partial<ScenarioScript>) => {
    const { network } = chain
    const scenario = scenarios.create(network, scene.sandbox.newPayer(network), script)
    return { scenario, body: scenarioBody(scene, scenario) }
  }

  it('fails a payment that it verified, as its scenario says', async () => {
    const { body } = play({ settle: { failure: 'invalid_exact_evm_transaction_failed', pendingSeconds: 0 } })
    expect(await client.verify(body)).toMatchObject({ isValid: true })
    const failed = await client.settle(body)
    expect(failed).toMatchObject({ success: false, errorReason: 'invalid_exact_evm_transaction_failed' })
    // The same request can be sent again.
    expect(await client.settle(body)).toMatchObject({ errorReason: 'invalid_exact_evm_transaction_failed' })
  })

  it.each([
    [null, 'confirmed'],
    ['invalid_exact_evm_transaction_failed', 'failed'],
  ] as const)('takes a payment back after two blocks, then: %s', async (failure, status) => {
    const { scenario, body } = play({ reorg: { afterBlocks: 2, failure } })
    const settled = await client.settle(body)
    expect(settled).toMatchObject({ success: true })
    await client.core.detectReorgs()
    expect(await find(settled.settlementId)).toMatchObject({ status: 'confirmed' })

    scenarios.advance(scenario.id, 4_000)
    // Each check of a block waits longer than the one before.
    for (let round = 0; round < 3; round++) {
      clock.shift(60_000)
      await client.core.detectReorgs()
    }
    expect(await find(settled.settlementId)).toMatchObject({ status: 'pending' })
    expect(await reconcileUntil(client, settled, status)).toMatchObject({ transaction: settled.transaction })
  })
})
