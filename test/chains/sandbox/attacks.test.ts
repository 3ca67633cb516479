import type { Address } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { families } from '../../../src/chains/index.js'
import { sandboxTestnets } from '../../support/sandbox/networks.js'
import { type Scene as EvmScene, openScene as openEvmScene, type Service } from '../evm/scene.js'
import { openScene, prepareSandbox, type Scene } from './scene.js'

let evm: EvmScene
let service: Service
let scene: Scene
beforeAll(async () => {
  evm = await openEvmScene()
  service = await evm.open()
  scene = await openScene()
})
afterAll(async () => {
  await evm.reset()
  await evm.close()
})

describe('a configuration without SANDBOX=true', () => {
  it.each([
    {},
    { SANDBOX: 'false' },
    { SANDBOX: '1' },
    { SANDBOX: 'TRUE' },
    { SANDBOX: 'yes' },
    { SANDBOX_NETWORKS: 'eip155:84532' },
    { EVM_PRIVATE_KEY: `0x${'11'.repeat(32)}` },
  ])('does not have the sandbox: %j', (environment) => {
    expect(prepareSandbox(environment)).toBeNull()
  })

  it('opens no other family for it', () => {
    const open = families.flatMap((family) => {
      const preparation = family.prepare({ SANDBOX: 'true' })
      return 'open' in preparation && preparation.open !== null ? [family.namespace] : []
    })
    expect(open).toEqual(['sandbox'])
  })
})

describe('the sandbox', () => {
  it('has test networks only', () => {
    expect(scene.sandbox.networks).toEqual(sandboxTestnets)
    expect([...new Set(scene.schemes.map(({ kind }) => kind.network))].sort()).toEqual(
      [...scene.sandbox.networks].sort(),
    )
  })
})

describe('a real EVM network', () => {
  const listPayments = () =>
    scene.sandbox
      .listAddresses(new Date())
      .filter(({ family }) => family === 'eip155')
      .map(({ address, request }) => {
        const { token, network } = evm.chain
        const paymentRequirements = {
          ...request.paymentRequirements,
          network,
          asset: token.verifyingContract,
          extra: { name: token.name, version: token.version },
        }
        return { address, paymentRequirements, payload: request.paymentPayload.payload }
      })

  it('refuses every ready request, although the payer has funds', async () => {
    const payments = listPayments()
    expect(payments).toHaveLength(7)
    for (const { address, paymentRequirements, payload } of payments) {
      await evm.chain.mint(address as Address, 1_000_000n)
      const body = { paymentPayload: { accepted: paymentRequirements, payload }, paymentRequirements }
      const expected = 'invalid_exact_evm_payload_signature'
      expect(await service.verify(body)).toMatchObject({ isValid: false, invalidReason: expected })
      expect(await service.settle(body)).toMatchObject({ success: false, errorReason: expected })
    }
  })

  it.each([
    (payer: string) => ({ payload: { payer } }),
    (payer: string) => ({ payload: { authorization: { payer } } }),
    (payer: string) => ({ payer, payload: {} }),
  ])('ignores the fields for payloads that are written by hand: %s', async (write) => {
    const [payment] = listPayments()
    if (payment === undefined) throw new Error('There is no fixed payer')
    const { paymentRequirements, address } = payment
    const body = { paymentPayload: { accepted: paymentRequirements, ...write(address) }, paymentRequirements }
    expect(await service.verify(body)).toMatchObject({
      isValid: false,
      invalidReason: 'invalid_payload_structure',
    })
  })
})
