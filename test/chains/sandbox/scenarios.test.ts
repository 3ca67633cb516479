import { beforeEach, describe, expect, it } from 'vitest'
import type { ScenarioScript } from '../../../src/ports/sandbox.js'
import type { BlockReference } from '../../../src/ports/settlementJournal.js'
import type { Outcome } from '../../../src/schemes/scheme.js'
import { never, openScene, readBody, resolve, type Scene, scenarioBody } from './scene.js'

let scene: Scene
beforeEach(async () => {
  scene = await openScene()
})

const networks = [
  'eip155:84532',
  'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
  'ton:testnet',
  'tron:nile',
] as const
const withReorgs = networks.filter((network) => network !== 'ton:testnet')

const play = (network: string, script: Partial<ScenarioScript>) => {
  const scenario = scene.scenarios.create(network, scene.sandbox.newPayer(network), script)
  return { scenario, body: scenarioBody(scene, scenario) }
}

const blockOf = (outcome: Outcome): BlockReference => {
  if (outcome.state !== 'confirmed' || outcome.block === undefined) throw new Error('It has no block')
  return outcome.block
}

describe.each(networks)('a scenario on %s', (network) => {
  it('accepts and confirms a payment of its payer, without a signature', async () => {
    const { scenario, body } = play(network, {})
    expect(await scene.verify(body)).toMatchObject({ isValid: true, payer: scenario.payer })
    const { outcome, row, scheme, authorized } = await scene.settle(body)
    expect(outcome).toMatchObject({ state: 'confirmed', transaction: row.transaction })
    expect(scheme.identify(readBody(body))).toBe(authorized.authorizationId)
    expect(await resolve(scheme, row)).toEqual(outcome)
  })

  it('refuses at /verify and at /settle for the reason of its script', async () => {
    const { scenario, body } = play(network, { verifyRefusal: 'insufficient_funds' })
    const refusal = { isValid: false, payer: scenario.payer, reason: 'insufficient_funds' }
    expect(await scene.verify(body)).toEqual(refusal)
    expect(await scene.verify(body, true)).toEqual(refusal)
  })

  it('verifies a payment and then fails to settle it', async () => {
    const { body } = play(network, { settle: { failure: 'transaction_failed', pendingSeconds: 0 } })
    expect((await scene.verify(body)).isValid).toBe(true)
    const { outcome, row, scheme } = await scene.settle(body)
    expect(outcome).toEqual({ state: 'failed', reason: 'transaction_failed', transaction: row.transaction })
    expect(await resolve(scheme, row)).toEqual(outcome)
  })

  it.each([
    [null, { state: 'confirmed' }],
    ['transaction_failed', { state: 'failed', reason: 'transaction_failed' }],
  ] as const)(
    'is pending until its own clock was advanced by 45 s; then its failure is %s',
    async (failure, expected) => {
      const { scenario, body } = play(network, { settle: { failure, pendingSeconds: 45 } })
      scene.scenarios.advance(scenario.id, 10_000)
      const { outcome, row, scheme } = await scene.settle(body)
      expect(outcome).toEqual({ state: 'pending', transaction: row.transaction })

      await scene.clock.advance(3_600_000)
      expect((await resolve(scheme, row)).state).toBe('pending')
      scene.scenarios.advance(scenario.id, 44_999)
      expect((await resolve(scheme, row)).state).toBe('pending')
      scene.scenarios.advance(scenario.id, 1)
      expect(await resolve(scheme, row)).toMatchObject({ ...expected, transaction: row.transaction })
    },
  )

  it('has its final outcome once it expired', async () => {
    const { scenario, body } = play(network, {
      settle: { failure: 'transaction_failed', pendingSeconds: 45 },
    })
    const { row, scheme } = await scene.settle(body)
    scene.scenarios.expire(scenario.id)
    expect(await resolve(scheme, row)).toMatchObject({ state: 'failed', reason: 'transaction_failed' })
    // Its payer is a stranger now.
    expect(await scene.verify(body)).toMatchObject({ isValid: false, reason: 'invalid_payload_structure' })
  })

  it('can settle an authorization again after it failed: by another transaction', async () => {
    const { body } = play(network, { settle: { failure: 'transaction_failed', pendingSeconds: 0 } })
    const [first, second] = [await scene.settle(body), await scene.settle(body)]
    expect(first.authorized.authorizationId).toBe(second.authorized.authorizationId)
    expect(first.row.transaction).not.toBe(second.row.transaction)
  })

  it('has no effect on another network', async () => {
    const { scenario } = play(network, {})
    const elsewhere = network === 'eip155:84532' ? 'eip155:421614' : 'eip155:84532'
    expect(await scene.verify(scenarioBody(scene, { ...scenario, network: elsewhere }))).toMatchObject({
      isValid: false,
    })
  })
})

describe.each(withReorgs)('a reorg after two blocks on %s', (network) => {
  const reorg = { afterBlocks: 2, failure: null }

  it('orphans the block, and the payment is confirmed by the same transaction in another', async () => {
    const { scenario, body } = play(network, { reorg })
    const { outcome, row, scheme } = await scene.settle(body)
    const block = blockOf(outcome)
    const status = (of: BlockReference) => scheme.network.getBlockStatus(of, never)
    expect(await status(block)).toBe('canonical')
    scene.scenarios.advance(scenario.id, 3_999)
    expect(await status(block)).toBe('canonical')
    expect(await resolve(scheme, row)).toEqual(outcome)

    scene.scenarios.advance(scenario.id, 1)
    expect(await status(block)).toBe('orphaned')
    const again = await resolve(scheme, row)
    expect(again).toMatchObject({ state: 'confirmed', transaction: row.transaction })
    expect(blockOf(again)).not.toEqual(block)
    expect(await status(blockOf(again))).toBe('final')
    expect(await resolve(scheme, row)).toEqual(again)
  })

  it('works on another instance, which knows the row and the block only', async () => {
    const { scenario, body } = play(network, { reorg })
    const { outcome, row, scheme } = await scene.settle(body)
    scene.scenarios.advance(scenario.id, 4_000)
    const other = (await scene.reopen()).find(
      ({ kind }) => kind.network === network && kind.scheme === scheme.kind.scheme,
    )
    if (other === undefined) throw new Error('The network is missing')
    expect(await other.network.getBlockStatus(blockOf(outcome), never)).toBe('orphaned')
    expect(await resolve(other, row)).toEqual(await resolve(scheme, row))
  })

  it('can end in a failure', async () => {
    const failure = 'transaction_failed'
    const { scenario, body } = play(network, { reorg: { afterBlocks: 2, failure } })
    const { row, scheme } = await scene.settle(body)
    scene.scenarios.advance(scenario.id, 4_000)
    expect(await resolve(scheme, row)).toEqual({
      state: 'failed',
      reason: failure,
      transaction: row.transaction,
    })
  })

  it('has happened once the scenario expired', async () => {
    const { scenario, body } = play(network, { reorg })
    const { outcome, row, scheme } = await scene.settle(body)
    scene.scenarios.expire(scenario.id)
    expect(await scheme.network.getBlockStatus(blockOf(outcome), never)).toBe('orphaned')
    expect(blockOf(await resolve(scheme, row))).not.toEqual(blockOf(outcome))
  })

  it('counts from the block of a payment that was pending before', async () => {
    const { scenario, body } = play(network, { settle: { failure: null, pendingSeconds: 45 }, reorg })
    const { row, scheme } = await scene.settle(body)
    scene.scenarios.advance(scenario.id, 45_000)
    const block = blockOf(await resolve(scheme, row))
    expect(await scheme.network.getBlockStatus(block, never)).toBe('canonical')
    scene.scenarios.advance(scenario.id, 4_000)
    expect(await scheme.network.getBlockStatus(block, never)).toBe('orphaned')
  })

  it('does not orphan a block of another hash or number', async () => {
    const { body } = play(network, { reorg })
    const { outcome, scheme } = await scene.settle(body)
    const { number, hash } = blockOf(outcome)
    expect(await scheme.network.getBlockStatus({ number: number + 1n, hash }, never)).toBe('unknown')
    expect(await scheme.network.getBlockStatus({ number, hash: 'another' }, never)).toBe('unknown')
  })
})

describe('a stranger', () => {
  it("cannot spend another payer's authorization by a scenario of its own", async () => {
    const { scenario } = play('eip155:84532', {})
    const example = scene.sandbox.listAddresses(scene.clock.now()).find(({ family }) => family === 'eip155')
    const { paymentPayload, paymentRequirements } = example?.request ?? {}
    const authorization = {
      from: scene.sandbox.newPayer('eip155:84532'),
      to: paymentRequirements?.payTo,
      value: '10000',
      validAfter: '0',
      validBefore: '9999999999',
      nonce: `0x${'11'.repeat(32)}`,
    }
    const payload = { signature: `0x${'00'.repeat(65)}`, authorization, payer: scenario.payer }
    const body = { paymentPayload: { ...paymentPayload, payload }, paymentRequirements }
    expect(await scene.verify(body, true)).toMatchObject({
      isValid: false,
      reason: 'invalid_exact_evm_payload_signature',
    })
  })
})

describe('TON', () => {
  it('has no reorgs: its payments name no block', async () => {
    const { body } = play('ton:testnet', { reorg: { afterBlocks: 2, failure: null } })
    const { outcome } = await scene.settle(body)
    expect(outcome).not.toHaveProperty('block')
  })
})

describe('the payer of a scenario', () => {
  it.each(networks)('is an address of %s, and each is another', (network) => {
    const scheme = scene.find('exact', network)
    const payers = [scene.sandbox.newPayer(network), scene.sandbox.newPayer(network)]
    expect(payers.map((payer) => scheme.network.isAddress(payer))).toEqual([true, true])
    expect(new Set(payers).size).toBe(2)
  })

  it('does not exist on a network that is not of the sandbox', () => {
    expect(() => scene.sandbox.newPayer('eip155:1')).toThrow('eip155:1 is not a network of the sandbox')
  })
})
