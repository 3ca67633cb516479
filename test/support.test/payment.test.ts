import { recoverTypedDataAddress } from 'viem'
import { describe, expect, it } from 'vitest'
import { transferAuthorizationTypedData } from '../support/evm/authorization.js'
import { exactPayment, toFlat, toV1 } from '../support/evm/payment.js'
import { createEoa } from '../support/evm/wallets.js'

const chain = {
  network: 'eip155:84532',
  token: {
    name: 'USDC',
    version: '2',
    chainId: 84532,
    verifyingContract: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
  },
} as const
const payTo = '0x209693Bc6afc0C5328bA36FaF03C514EF312287C'
const now = 1_700_000_000

const build = async () => {
  const wallet = createEoa()
  return { wallet, body: await exactPayment({ chain, wallet, payTo, amount: 12_345n, now }) }
}

describe('exactPayment', () => {
  it('builds a body of version 2', async () => {
    const { wallet, body } = await build()
    const requirements = {
      scheme: 'exact',
      network: 'eip155:84532',
      amount: '12345',
      asset: chain.token.verifyingContract,
      payTo,
      maxTimeoutSeconds: 300,
      extra: { name: 'USDC', version: '2' },
    }
    expect(body).toEqual({
      x402Version: 2,
      paymentPayload: {
        x402Version: 2,
        resource: {
          url: 'https://merchant.example/report',
          description: 'A report',
          mimeType: 'application/json',
        },
        accepted: requirements,
        payload: {
          signature: expect.stringMatching(/^0x[0-9a-f]{128}1[bc]$/),
          authorization: {
            from: wallet.address,
            to: payTo,
            value: '12345',
            validAfter: '1699999400',
            validBefore: '1700000300',
            nonce: expect.stringMatching(/^0x[0-9a-f]{64}$/),
          },
        },
      },
      paymentRequirements: requirements,
    })
  })

  it("carries the payer's signature of the authorization", async () => {
    const { wallet, body } = await build()
    const { signature, authorization } = body.paymentPayload.payload
    const typedData = transferAuthorizationTypedData(chain.token, authorization)
    expect(await recoverTypedDataAddress({ ...typedData, signature })).toBe(wallet.address)
  })

  it('applies changes of requirements to both copies, and of `accepted` to one', async () => {
    const options = { chain, wallet: createEoa() }
    const changed = await exactPayment({ ...options, requirements: { maxTimeoutSeconds: 5 } })
    expect(changed.paymentPayload.accepted).toEqual(changed.paymentRequirements)
    expect(changed.paymentRequirements.maxTimeoutSeconds).toBe(5)
    const differing = await exactPayment({ ...options, accepted: { amount: '1' } })
    expect(differing.paymentPayload.accepted.amount).toBe('1')
    expect(differing.paymentRequirements.amount).toBe('10000')
  })

  it('gives every payment its own nonce', async () => {
    const nonces = await Promise.all([build(), build()])
    const [first, second] = nonces.map(({ body }) => body.paymentPayload.payload.authorization.nonce)
    expect(first).not.toBe(second)
  })
})

describe('toV1', () => {
  it('uses the short network name and moves the resource into the requirements', async () => {
    const { body } = await build()
    expect(toV1(body)).toEqual({
      x402Version: 1,
      paymentPayload: {
        x402Version: 1,
        scheme: 'exact',
        network: 'base-sepolia',
        payload: body.paymentPayload.payload,
      },
      paymentRequirements: {
        scheme: 'exact',
        network: 'base-sepolia',
        maxAmountRequired: '12345',
        asset: chain.token.verifyingContract,
        payTo,
        maxTimeoutSeconds: 300,
        extra: { name: 'USDC', version: '2' },
        resource: 'https://merchant.example/report',
        description: 'A report',
        mimeType: 'application/json',
      },
    })
  })

  it('rejects a network without a version 1 name', async () => {
    const body = await exactPayment({ chain, wallet: createEoa(), requirements: { network: 'eip155:57073' } })
    expect(() => toV1(body)).toThrow('eip155:57073')
  })
})

describe('toFlat', () => {
  it("puts the authorization's fields beside the signature, with the times as numbers", async () => {
    const { wallet, body } = await build()
    const { signature, authorization } = body.paymentPayload.payload
    expect(toFlat(body)).toEqual({
      paymentPayload: {
        payVersion: 2,
        scheme: 'exact',
        network: 'eip155:84532',
        payload: {
          from: wallet.address,
          to: payTo,
          value: '12345',
          nonce: authorization.nonce,
          signature,
          validAfter: 1_699_999_400,
          validBefore: 1_700_000_300,
        },
      },
      paymentRequirements: {
        scheme: 'exact',
        network: 'eip155:84532',
        maxAmountRequired: '12345',
        asset: chain.token.verifyingContract,
        payTo,
        maxTimeoutSeconds: 300,
        extra: { name: 'USDC', version: '2' },
      },
    })
  })
})
