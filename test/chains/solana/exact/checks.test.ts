import { createApproveInstruction, createAssociatedTokenAccountInstruction } from '@solana/spl-token'
import {
  ComputeBudgetProgram,
  Keypair,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
} from '@solana/web3.js'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createParties, memoInstruction } from '../../../support/solana/payment.js'
import { lighthouseProgram, token2022Program } from '../../../support/solana/programs.js'
import { associatedAccount } from '../../../support/solana/tokens.js'
import { openScene, type PaymentPlan, type SolanaScene, type SolanaService } from '../scene.js'

/* Every rule, with the reason for which a payment that breaks it is refused. */

let scene: SolanaScene
let service: SolanaService

beforeAll(async () => {
  scene = await openScene({ feePayerCount: 2 })
  service = await scene.open()
})
afterEach(() => Object.assign(scene.chain.behaviour, { dropsSends: false }))
afterAll(() => scene.close())

const lighthouse = () =>
  new TransactionInstruction({
    programId: new PublicKey(lighthouseProgram),
    keys: [],
    data: Buffer.from([10, 0]),
  })
const randomKey = () => Keypair.generate().publicKey

type Change = (instructions: TransactionInstruction[]) => TransactionInstruction[]

const replaceAt =
  (index: number, instruction: TransactionInstruction): Change =>
  (instructions) =>
    instructions.with(index, instruction)
const append =
  (...added: TransactionInstruction[]): Change =>
  (instructions) => [...instructions.slice(0, 3), ...added]

const units = (limit: number) => ComputeBudgetProgram.setComputeUnitLimit({ units: limit })
const price = (microLamports: number) => ComputeBudgetProgram.setComputeUnitPrice({ microLamports })

interface Row {
  readonly rule: string
  readonly reason: string
  readonly plan: () => PaymentPlan
}

const payload = 'invalid_exact_svm_payload_'

const rows: readonly Row[] = [
  {
    rule: 'the fee payer is ours',
    reason: 'invalid_exact_svm_fee_payer_not_managed_by_facilitator',
    plan: () => ({ feePayer: Keypair.generate() }),
  },
  {
    rule: 'extra.feePayer is ours',
    reason: 'invalid_exact_svm_fee_payer_mismatch',
    plan: () => ({ extra: { feePayer: randomKey().toBase58() } }),
  },
  {
    rule: 'only fee payer and payer must sign',
    reason: `${payload}excessive_signers`,
    plan: () => {
      const cosigner = Keypair.generate()
      const keys = [{ pubkey: cosigner.publicKey, isSigner: true, isWritable: false }]
      const memo = new TransactionInstruction({ ...memoInstruction('hello'), keys })
      return { cosigners: [cosigner], change: append(memo) }
    },
  },
  {
    rule: 'there are at least three instructions',
    reason: `${payload}transaction_instructions_length`,
    plan: () => ({ change: (all) => all.filter((_, index) => index === 0 || index === 2) }),
  },
  {
    rule: 'there are at most seven instructions',
    reason: `${payload}transaction_instructions_length`,
    plan: () => ({ change: append(...Array.from({ length: 5 }, lighthouse)) }),
  },
  {
    rule: 'the first instruction is SetComputeUnitLimit',
    reason: `${payload}transaction_instructions_compute_limit_instruction`,
    plan: () => ({ change: replaceAt(0, price(1)) }),
  },
  {
    rule: 'the compute units are within the limit',
    reason: `${payload}transaction_instructions_compute_limit_instruction_too_high`,
    plan: () => ({ change: replaceAt(0, units(400_001)) }),
  },
  {
    rule: 'the second instruction is SetComputeUnitPrice',
    reason: `${payload}transaction_instructions_compute_price_instruction`,
    plan: () => ({ change: replaceAt(1, units(1)) }),
  },
  {
    rule: 'the priority fee is within the limit',
    reason: `${payload}transaction_instructions_compute_price_instruction_too_high`,
    // 20,000 units at 5,000,001 micro-lamports: one lamport above 100,000.
    plan: () => ({ change: replaceAt(1, price(5_000_001)) }),
  },
  {
    rule: 'the third instruction is TransferChecked',
    reason: `${payload}no_transfer_instruction`,
    plan: () => ({
      change: (all) =>
        all.map((each, index) =>
          index === 2
            ? createApproveInstruction(randomKey(), randomKey(), each.keys[3]?.pubkey ?? randomKey(), 5n)
            : each,
        ),
    }),
  },
  {
    rule: 'TransferChecked has exactly four accounts',
    reason: `${payload}no_transfer_instruction`,
    plan: () => ({
      change: (all) =>
        all.map((each, index) =>
          index === 2
            ? new TransactionInstruction({
                ...each,
                keys: [...each.keys, { pubkey: randomKey(), isSigner: false, isWritable: false }],
              })
            : each,
        ),
    }),
  },
  ...['fourth', 'fifth', 'sixth', 'seventh'].map(
    (name, index): Row => ({
      rule: `the ${name} instruction is a memo or from Lighthouse`,
      reason: `${payload}unknown_${name}_instruction`,
      plan: () => ({
        change: append(
          ...Array.from({ length: index }, lighthouse),
          new TransactionInstruction({ programId: SystemProgram.programId, keys: [], data: Buffer.alloc(4) }),
        ),
      }),
    }),
  ),
  {
    rule: 'the fee payer funds no new account',
    reason: `${payload}unknown_fourth_instruction`,
    plan: () => ({
      change: (all) => [
        ...all.slice(0, 3),
        createAssociatedTokenAccountInstruction(
          all[2]?.keys[3]?.pubkey ?? randomKey(),
          randomKey(),
          randomKey(),
          new PublicKey(scene.chain.usdc),
        ),
      ],
    }),
  },
  {
    rule: 'there are at most three Lighthouse instructions',
    reason: `${payload}unknown_seventh_instruction`,
    plan: () => ({ change: append(lighthouse(), lighthouse(), lighthouse(), lighthouse()) }),
  },
  {
    rule: 'there is at most one memo',
    reason: `${payload}memo_count`,
    plan: () => ({ change: append(memoInstruction('a'), memoInstruction('b')) }),
  },
  {
    rule: 'there is a memo if extra.memo is set',
    reason: `${payload}memo_count`,
    plan: () => ({ memo: null, extra: { memo: 'order 7' } }),
  },
  {
    rule: 'the memo equals extra.memo',
    reason: `${payload}memo_mismatch`,
    plan: () => ({ memo: 'order 8', extra: { memo: 'order 7' } }),
  },
  {
    rule: 'the memo has at most 256 bytes',
    reason: `${payload}memo_mismatch`,
    plan: () => ({ memo: 'x'.repeat(257) }),
  },
  {
    rule: 'no instruction uses an account of ours',
    reason: `${payload}transaction_fee_payer_transferring_funds`,
    plan: () => {
      const pubkey = scene.chain.feePayers[1]?.publicKey ?? randomKey()
      const keys = [{ pubkey, isSigner: false, isWritable: true }]
      return { change: append(new TransactionInstruction({ ...lighthouse(), keys })) }
    },
  },
  {
    rule: 'the mint is the asset',
    reason: `${payload}mint_mismatch`,
    plan: () => ({
      change: (all) =>
        all.map((each, index) =>
          index === 2
            ? new TransactionInstruction({
                ...each,
                keys: each.keys.with(1, { pubkey: randomKey(), isSigner: false, isWritable: false }),
              })
            : each,
        ),
    }),
  },
  {
    rule: 'the full amount is paid',
    reason: `${payload}amount_mismatch`,
    plan: () => ({ amount: 10n, transferred: 9n }),
  },
  {
    rule: 'not more than the amount is paid',
    reason: `${payload}amount_mismatch`,
    plan: () => ({ amount: 10n, transferred: 11n, balance: 11n }),
  },
  { rule: 'the amount is not zero', reason: 'invalid_payment_amount', plan: () => ({ amount: 0n }) },
  {
    rule: 'the destination is the associated token account of payTo',
    reason: `${payload}recipient_mismatch`,
    plan: () => ({
      change: (all) =>
        all.map((each, index) =>
          index === 2
            ? new TransactionInstruction({
                ...each,
                keys: each.keys.with(2, { pubkey: randomKey(), isSigner: false, isWritable: true }),
              })
            : each,
        ),
    }),
  },
  {
    rule: 'the owner of the source account signs',
    reason: `${payload}signature_invalid`,
    plan: () => {
      const payer = Keypair.generate()
      const { payer: victim } = createParties(scene.chain, 10_000n)
      const signed = { pubkey: payer.publicKey, isSigner: true, isWritable: false }
      const owned = { pubkey: victim.publicKey, isSigner: false, isWritable: false }
      const source = new PublicKey(associatedAccount(victim.publicKey.toBase58(), scene.chain.usdc))
      return {
        payer,
        change: ([limit, unitPrice, transfer]) =>
          limit === undefined || unitPrice === undefined || transfer === undefined
            ? []
            : [
                limit,
                unitPrice,
                new TransactionInstruction({
                  ...transfer,
                  keys: [
                    { pubkey: source, isSigner: false, isWritable: true },
                    ...transfer.keys.slice(1, 3),
                    owned,
                  ],
                }),
                new TransactionInstruction({ ...memoInstruction('mine'), keys: [signed] }),
              ],
      }
    },
  },
  {
    rule: 'payer and recipient differ',
    reason: 'self_payment',
    plan: () => {
      const payer = Keypair.generate()
      return { payer, payTo: payer.publicKey.toBase58() }
    },
  },
  {
    rule: 'the asset is offered',
    reason: 'unsupported_asset',
    plan: () => ({ asset: randomKey().toBase58() }),
  },
  {
    rule: 'the payer has enough tokens',
    reason: 'insufficient_funds',
    plan: () => ({ balance: 9_999n }),
  },
  {
    rule: 'the blockhash is known',
    reason: 'settle_exact_svm_block_height_exceeded',
    plan: () => ({ blockhash: randomKey().toBase58() }),
  },
  {
    rule: 'the blockhash has not expired',
    reason: 'settle_exact_svm_block_height_exceeded',
    plan: () => ({ blockhash: scene.chain.slots.blockhashAt(scene.chain.slots.now() - 200n) }),
  },
  {
    rule: 'the payer has a token account',
    reason: `${payload}transaction_sender_ata_not_found`,
    plan: () => ({ payer: Keypair.generate() }),
  },
  {
    rule: 'the recipient has a token account',
    reason: `${payload}transaction_receiver_ata_not_found`,
    plan: () => ({ payTo: randomKey().toBase58() }),
  },
  {
    rule: 'payTo still owns that token account',
    reason: `${payload}recipient_mismatch`,
    plan: () => {
      const payTo = randomKey().toBase58()
      const address = associatedAccount(payTo, scene.chain.usdc)
      scene.chain.give({ owner: randomKey().toBase58(), amount: 0n, address })
      return { payTo }
    },
  },
  {
    rule: 'the mint belongs to the token program of the transfer',
    reason: 'asset_not_deployed_contract',
    plan: () => ({ program: token2022Program }),
  },
]

describe('checks of exact on Solana', () => {
  it.each(rows)('refuses as $reason unless $rule', async ({ plan, reason }) => {
    const { body, payTo } = scene.plan(plan())
    expect(await service.verify(body)).toMatchObject({ isValid: false, invalidReason: reason })
    expect(await service.settle(body)).toMatchObject({ success: false, errorReason: reason, transaction: '' })
    expect(scene.chain.holdingOf(payTo)).toBe(0n)
  })

  it('accepts each of our fee payers for extra.feePayer, which round robin changes between two requests', async () => {
    const [first, second] = scene.chain.feePayers
    if (first === undefined || second === undefined) throw new Error('The scene has two fee payers')
    const extra = { feePayer: first.publicKey.toBase58() }
    const { body, payTo } = scene.plan({ feePayer: second, extra })
    expect(await service.verify(body)).toMatchObject({ isValid: true })
    expect(await service.settle(body)).toMatchObject({ success: true })
    expect(scene.chain.holdingOf(payTo)).toBe(10_000n)
  })

  it('refuses a frozen token account as account_blocked', async () => {
    const { body, payer } = scene.plan()
    scene.chain.freeze(associatedAccount(payer.publicKey.toBase58(), scene.chain.usdc))
    expect(await service.verify(body)).toMatchObject({ invalidReason: 'account_blocked' })
  })

  it('names the payer in a refusal', async () => {
    const { body, payer } = scene.plan({ transferred: 1n })
    expect(await service.verify(body)).toMatchObject({ payer: payer.publicKey.toBase58() })
  })

  it('verifies a blockhash that is too close to its expiry to be settled', async () => {
    const blockhash = scene.chain.slots.blockhashAt(scene.chain.slots.now() - 140n)
    const { body } = scene.plan({ blockhash })
    expect(await service.verify(body)).toMatchObject({ isValid: true })
    expect(await service.settle(body)).toMatchObject({
      errorReason: 'settle_exact_svm_block_height_exceeded',
    })
  })
})
