import { createKeyPairSignerFromBytes } from '@solana/kit'
import { getAccount, getAssociatedTokenAddressSync } from '@solana/spl-token'
import { Connection, Keypair, PublicKey } from '@solana/web3.js'
import { HTTPFacilitatorClient } from '@x402/core/server'
import { decodePaymentResponseHeader, wrapFetchWithPaymentFromConfig } from '@x402/fetch'
import { ExactSvmScheme } from '@x402/svm/exact/client'
import { ExactSvmScheme as ExactSvmServer } from '@x402/svm/exact/server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openShop, type Shop } from '../../demo/shop.js'
import { createTestDatabase, type TestDatabase } from '../../support/postgres.js'
import { startService, type TestService } from '../../support/service.js'
import { type LocalSolana, startLocalSolana } from '../../support/solana/localChain.js'
import { createParties, type SolanaRequirements, solanaPayment } from '../../support/solana/payment.js'
import { token2022Program } from '../../support/solana/programs.js'
import { environmentFor } from './scene.js'

/* Published clients, servers and facilitator clients, unmodified. */

const network = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'

let chain: LocalSolana
let database: TestDatabase
let service: TestService

beforeAll(async () => {
  ;[chain, database] = await Promise.all([startLocalSolana({ feePayerCount: 2 }), createTestDatabase()])
  const environment = {
    ...environmentFor(chain.feePayers, [chain.url]),
    SOLANA_TOKENS_mainnet: '*',
  }
  service = await startService({ databaseUrl: database.url, environment })
})
afterAll(async () => {
  await service.close()
  await database.drop()
  await chain.stop()
})

const openWallet = async (payer: Keypair) =>
  new ExactSvmScheme(await createKeyPairSignerFromBytes(payer.secretKey), { rpcUrl: chain.url })

const countTokens = async (owner: string, mint = chain.usdc, program?: string) => {
  const programId = program === undefined ? undefined : new PublicKey(program)
  const account = getAssociatedTokenAddressSync(new PublicKey(mint), new PublicKey(owner), false, programId)
  const connection = new Connection(chain.url, 'confirmed')
  return (await getAccount(connection, account, 'confirmed', programId)).amount
}

describe('@x402/svm', () => {
  it('pays @x402/express with @x402/fetch, and the merchant receives the money', async () => {
    const { payer, payTo } = createParties(chain, 1_000_000n)
    const shop: Shop = await openShop({
      port: 0,
      facilitatorUrl: service.url,
      world: { network, merchant: payTo, server: new ExactSvmServer(), signPayment: async () => null },
    })
    try {
      const fetchWithPayment = wrapFetchWithPaymentFromConfig(fetch, {
        schemes: [{ network, client: await openWallet(payer) }],
      })
      const response = await fetchWithPayment(`${shop.url}/report`)
      expect(response.status).toBe(200)
      const receipt = decodePaymentResponseHeader(response.headers.get('PAYMENT-RESPONSE') ?? '')
      expect(receipt).toMatchObject({ success: true, network, payer: payer.publicKey.toBase58() })
      expect(await countTokens(payTo)).toBe(10_000n)
      expect(await countTokens(payer.publicKey.toBase58())).toBe(990_000n)
    } finally {
      await shop.close()
    }
  })

  it.each([
    ['SPL Token', undefined],
    ['Token-2022', token2022Program],
  ])('signs payments in %s that the facilitator verifies and settles over HTTP', async (_, program) => {
    const mint = Keypair.generate().publicKey.toBase58()
    const token = program === undefined ? { mint } : { mint, program }
    chain.createMint(token)
    const { payer, payTo } = createParties(chain, 50_000n, token)
    const facilitator = new HTTPFacilitatorClient({ url: service.url })
    const { kinds } = await facilitator.getSupported()
    const kind = kinds.find((each) => each.network === network)
    const requirements: SolanaRequirements = {
      scheme: 'exact',
      network,
      amount: '50000',
      asset: mint,
      payTo,
      maxTimeoutSeconds: 60,
      extra: { ...kind?.extra },
    }
    const accepted = { ...requirements, network, extra: { ...kind?.extra } } as const
    const signed = await (await openWallet(payer)).createPaymentPayload(2, accepted)
    const payload = { ...signed, accepted }
    expect(await facilitator.verify(payload, accepted)).toMatchObject({ isValid: true })
    expect(await facilitator.settle(payload, accepted)).toMatchObject({
      success: true,
      payer: payer.publicKey.toBase58(),
    })
    expect(await countTokens(payTo, mint, program)).toBe(50_000n)
  })

  it('receives one of our fee payers in /supported', async () => {
    const { kinds, signers } = await new HTTPFacilitatorClient({ url: service.url }).getSupported()
    const ours = chain.feePayers.map(({ publicKey }) => publicKey.toBase58())
    expect(ours).toContain(kinds.find((each) => each.network === network)?.extra?.feePayer)
    expect(Object.values(signers).flat()).toEqual(expect.arrayContaining(ours))
  })
})

describe('@solana/web3.js and @solana/spl-token', () => {
  it('build a payment that is settled by protocol version 1', async () => {
    const { payer, payTo } = createParties(chain, 7_000n)
    const { paymentPayload, paymentRequirements } = solanaPayment({ chain, payer, payTo, amount: 7_000n })
    const { amount, ...rest } = paymentRequirements
    const body = {
      x402Version: 1,
      paymentPayload: { x402Version: 1, scheme: 'exact', network: 'solana', payload: paymentPayload.payload },
      paymentRequirements: {
        ...rest,
        network: 'solana',
        maxAmountRequired: amount,
        resource: 'https://shop.example/report',
        description: 'A report',
        mimeType: 'application/json',
      },
    }
    const response = await fetch(`${service.url}/settle`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    expect(await response.json()).toMatchObject({ success: true, network: 'solana' })
    expect(await countTokens(payTo)).toBe(7_000n)
  })
})
