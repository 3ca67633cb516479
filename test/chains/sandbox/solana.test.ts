import { Keypair, PublicKey, TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import { beforeAll, describe, expect, it } from 'vitest'
import { listInstructions } from '../../support/solana/payment.js'
import { openScene, resolve, type Scene } from './scene.js'

const network = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1'
const usdc = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU'

let scene: Scene
beforeAll(async () => {
  scene = await openScene()
})

interface Plan {
  readonly payer?: Keypair
  readonly payTo?: string
  readonly signedPayTo?: string
  readonly amount?: bigint
  readonly transferred?: bigint
  readonly asset?: string
  readonly feePayer?: string
  readonly isSigned?: boolean
  readonly extra?: object
}

const feePayerOf = () => String(scene.find('exact', network).describeKind()?.extra?.feePayer)

/** As the published client builds it, with the fee payer that /supported announces. */
const pay = (plan: Plan = {}) => {
  const {
    payer = Keypair.generate(),
    payTo = Keypair.generate().publicKey.toBase58(),
    amount = 10_000n,
  } = plan
  const {
    signedPayTo = payTo,
    transferred = amount,
    asset = usdc,
    feePayer = feePayerOf(),
    isSigned = true,
  } = plan
  const instructions = listInstructions({
    chain: { network, usdc } as never,
    payer,
    payTo: signedPayTo,
    amount: transferred,
    asset,
  })
  const transaction = new VersionedTransaction(
    new TransactionMessage({
      payerKey: new PublicKey(feePayer),
      recentBlockhash: Keypair.generate().publicKey.toBase58(),
      instructions,
    }).compileToV0Message(),
  )
  if (isSigned) transaction.sign([payer])
  const requirements = {
    scheme: 'exact',
    network,
    amount: amount.toString(),
    asset: usdc,
    payTo,
    maxTimeoutSeconds: 60,
    extra: { feePayer: feePayerOf(), ...plan.extra },
  }
  return {
    paymentPayload: {
      accepted: requirements,
      payload: { transaction: Buffer.from(transaction.serialize()).toString('base64') },
    },
    paymentRequirements: requirements,
  }
}

describe('exact on Solana devnet', () => {
  it('verifies and settles what a client signs with a new key', async () => {
    const payer = Keypair.generate()
    const body = pay({ payer })
    expect(await scene.verify(body)).toMatchObject({
      isValid: true,
      payer: payer.publicKey.toBase58(),
      amount: 10_000n,
    })
    const { outcome, row, scheme, authorized } = await scene.settle(body)
    expect(outcome.state).toBe('confirmed')
    expect(row.transaction).toMatch(/^2oi[1-9A-HJ-NP-Za-km-z]{85}$/)
    expect(authorized.authorizationId).toMatch(new RegExp(`^${network}/[0-9a-f]{64}$`))
    expect(await resolve(scheme, row)).toEqual(outcome)
  })

  const stranger = () => Keypair.generate().publicKey.toBase58()
  it.each([
    [
      'another recipient',
      () => pay({ signedPayTo: stranger() }),
      'invalid_exact_svm_payload_recipient_mismatch',
    ],
    ['another amount', () => pay({ transferred: 9_999n }), 'invalid_exact_svm_payload_amount_mismatch'],
    ['another mint', () => pay({ asset: stranger() }), 'invalid_exact_svm_payload_mint_mismatch'],
    [
      'another fee payer',
      () => pay({ feePayer: stranger() }),
      'invalid_exact_svm_fee_payer_not_managed_by_facilitator',
    ],
    [
      'a foreign fee payer in the requirements',
      () => pay({ extra: { feePayer: stranger() } }),
      'invalid_exact_svm_fee_payer_mismatch',
    ],
    ['a missing signature', () => pay({ isSigned: false }), 'invalid_exact_svm_payload_signature_invalid'],
  ])('refuses %s', async (_title, create, reason) => {
    expect(await scene.verify(create())).toMatchObject({ isValid: false, reason })
  })

  it('refuses a tampered signature', async () => {
    const body = pay()
    const bytes = Buffer.from(body.paymentPayload.payload.transaction, 'base64')
    // The payer signs second; the first byte counts the signatures.
    bytes.writeUInt8(bytes.readUInt8(1 + 64 + 5) ^ 1, 1 + 64 + 5)
    const payload = { transaction: bytes.toString('base64') }
    expect(
      await scene.verify({ ...body, paymentPayload: { ...body.paymentPayload, payload } }),
    ).toMatchObject({ isValid: false, reason: 'invalid_exact_svm_payload_signature_invalid' })
  })

  it('finds a fixed payer in a transaction that nothing signed', async () => {
    const address = new PublicKey('SandboxPaid11111111111111111111111111111111')
    const payer = Object.create(Keypair.generate(), { publicKey: { value: address } })
    expect(await scene.verify(pay({ payer, isSigned: false }))).toMatchObject({
      isValid: true,
      payer: address.toBase58(),
    })
  })
})
