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

/* Every rule of `exact` on Solana beside the reason with which a payment is refused that breaks it. */

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
const stranger = () => Keypair.generate().publicKey

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
    rule: 'the fee payer is extra.feePayer',
    reason: 'invalid_exact_svm_fee_payer_mismatch',
    plan: () => ({ extra: { feePayer: scene.chain.feePayers[1]?.publicKey.toBase58() } }),
  },
  {
    rule: 'nobody else must sign',
    reason: `${payload}excessive_signers`,
    plan: () => {
      const cosigner = Keypair.generate()
      const keys = [{ pubkey: cosigner.publicKey, isSigner: true, isWritable: false }]
      const memo = new TransactionInstruction({ ...memoInstruction('hello'), keys })
      return { cosigners: [cosigner], change: append(memo) }
    },
  },
  {
    rule: 'there are three instructions at least',
    reason: `${payload}transaction_instructions_length`,
    plan: () => ({ change: (all) => all.filter((_, index) => index === 0 || index === 2) }),
  },
  {
    rule: 'there are seven instructions at most',
    reason: `${payload}transaction_instructions_length`,
    plan: () => ({ change: append(...Array.from({ length: 5 }, lighthouse)) }),
  },
  {
    rule: 'the first one is SetComputeUnitLimit',
    reason: `${payload}transaction_instructions_compute_limit_instruction`,
    plan: () => ({ change: replaceAt(0, price(1)) }),
  },
  {
    rule: 'the compute units are limited',
    reason: `${payload}transaction_instructions_compute_limit_instruction_too_high`,
    plan: () => ({ change: replaceAt(0, units(400_001)) }),
  },
  {
    rule: 'the second one is SetComputeUnitPrice',
    reason: `${payload}transaction_instructions_compute_price_instruction`,
    plan: () => ({ change: replaceAt(1, units(1)) }),
  },
  {
    rule: 'units times price are limited',
    reason: `${payload}transaction_instructions_compute_price_instruction_too_high`,
    // 20,000 units at 5,000,001 millionths of a lamport: one lamport above 100,000.
    plan: () => ({ change: replaceAt(1, price(5_000_001)) }),
  },
  {
    rule: 'the third one is TransferChecked',
    reason: `${payload}no_transfer_instruction`,
    plan: () => ({
      change: (all) =>
        all.map((each, index) =>
          index === 2
            ? createApproveInstruction(stranger(), stranger(), each.keys[3]?.pubkey ?? stranger(), 5n)
            : each,
        ),
    }),
  },
  {
    rule: 'TransferChecked names four accounts and no more',
    reason: `${payload}no_transfer_instruction`,
    plan: () => ({
      change: (all) =>
        all.map((each, index) =>
          index === 2
            ? new TransactionInstruction({
                ...each,
                keys: [...each.keys, { pubkey: stranger(), isSigner: false, isWritable: false }],
              })
            : each,
        ),
    }),
  },
  ...['fourth', 'fifth', 'sixth', 'seventh'].map(
    (name, index): Row => ({
      rule: `the ${name} one is a memo or of Lighthouse`,
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
    rule: 'no account is opened at our cost',
    reason: `${payload}unknown_fourth_instruction`,
    plan: () => ({
      change: (all) => [
        ...all.slice(0, 3),
        createAssociatedTokenAccountInstruction(
          all[2]?.keys[3]?.pubkey ?? stranger(),
          stranger(),
          stranger(),
          new PublicKey(scene.chain.usdc),
        ),
      ],
    }),
  },
  {
    rule: 'there are three instructions of Lighthouse at most',
    reason: `${payload}unknown_seventh_instruction`,
    plan: () => ({ change: append(lighthouse(), lighthouse(), lighthouse(), lighthouse()) }),
  },
  {
    rule: 'there is one memo at most',
    reason: `${payload}memo_count`,
    plan: () => ({ change: append(memoInstruction('a'), memoInstruction('b')) }),
  },
  {
    rule: 'there is a memo where extra.memo is given',
    reason: `${payload}memo_count`,
    plan: () => ({ memo: null, extra: { memo: 'order 7' } }),
  },
  {
    rule: 'the memo is extra.memo',
    reason: `${payload}memo_mismatch`,
    plan: () => ({ memo: 'order 8', extra: { memo: 'order 7' } }),
  },
  {
    rule: 'the memo has 256 bytes at most',
    reason: `${payload}memo_mismatch`,
    plan: () => ({ memo: 'x'.repeat(257) }),
  },
  {
    rule: 'none of our accounts is named by an instruction',
    reason: `${payload}transaction_fee_payer_transferring_funds`,
    plan: () => {
      const pubkey = scene.chain.feePayers[1]?.publicKey ?? stranger()
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
                keys: each.keys.with(1, { pubkey: stranger(), isSigner: false, isWritable: false }),
              })
            : each,
        ),
    }),
  },
  {
    rule: 'no less than the amount is paid',
    reason: `${payload}amount_mismatch`,
    plan: () => ({ amount: 10n, transferred: 9n }),
  },
  {
    rule: 'no more than the amount is paid',
    reason: `${payload}amount_mismatch`,
    plan: () => ({ amount: 10n, transferred: 11n, balance: 11n }),
  },
  { rule: 'nothing is no payment', reason: `${payload}amount_mismatch`, plan: () => ({ amount: 0n }) },
  {
    rule: 'the destination is the associated account of payTo',
    reason: `${payload}recipient_mismatch`,
    plan: () => ({
      change: (all) =>
        all.map((each, index) =>
          index === 2
            ? new TransactionInstruction({
                ...each,
                keys: each.keys.with(2, { pubkey: stranger(), isSigner: false, isWritable: true }),
              })
            : each,
        ),
    }),
  },
  {
    rule: 'the owner of what is paid signs',
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
    rule: 'nobody pays oneself',
    reason: 'self_payment',
    plan: () => {
      const payer = Keypair.generate()
      return { payer, payTo: payer.publicKey.toBase58() }
    },
  },
  {
    rule: 'the asset is one that we settle',
    reason: 'unsupported_asset',
    plan: () => ({ asset: stranger().toBase58() }),
  },
  {
    rule: 'the payer owns what is paid',
    reason: 'insufficient_funds',
    plan: () => ({ balance: 9_999n }),
  },
  {
    rule: 'the blockhash is known',
    reason: 'settle_exact_svm_block_height_exceeded',
    plan: () => ({ blockhash: stranger().toBase58() }),
  },
  {
    rule: 'the blockhash is not used up',
    reason: 'settle_exact_svm_block_height_exceeded',
    plan: () => ({ blockhash: scene.chain.slots.blockhashAt(scene.chain.slots.now() - 200n) }),
  },
  {
    rule: 'the payer has an account for the token',
    reason: `${payload}transaction_sender_ata_not_found`,
    plan: () => ({ payer: Keypair.generate() }),
  },
  {
    rule: 'the recipient has an account for the token',
    reason: `${payload}transaction_receiver_ata_not_found`,
    plan: () => ({ payTo: stranger().toBase58() }),
  },
  {
    rule: 'that account is still of payTo',
    reason: `${payload}recipient_mismatch`,
    plan: () => {
      const payTo = stranger().toBase58()
      const address = associatedAccount(payTo, scene.chain.usdc)
      scene.chain.give({ owner: stranger().toBase58(), amount: 0n, address })
      return { payTo }
    },
  },
  {
    rule: 'the mint is of the program that moves it',
    reason: 'asset_not_deployed_contract',
    plan: () => ({ program: token2022Program }),
  },
]

describe('the rules of exact on Solana', () => {
  it.each(rows)('$rule, or else $reason', async ({ plan, reason }) => {
    const { body, payTo } = scene.plan(plan())
    expect(await service.verify(body)).toMatchObject({ isValid: false, invalidReason: reason })
    expect(await service.settle(body)).toMatchObject({ success: false, errorReason: reason, transaction: '' })
    expect(scene.chain.holdingOf(payTo)).toBe(0n)
  })

  it('refuse a frozen account as account_blocked', async () => {
    const { body, payer } = scene.plan()
    scene.chain.freeze(associatedAccount(payer.publicKey.toBase58(), scene.chain.usdc))
    expect(await service.verify(body)).toMatchObject({ invalidReason: 'account_blocked' })
  })

  it('name the payer who broke them', async () => {
    const { body, payer } = scene.plan({ transferred: 1n })
    expect(await service.verify(body)).toMatchObject({ payer: payer.publicKey.toBase58() })
  })

  it('let a blockhash be verified that is too near its end to be settled', async () => {
    const blockhash = scene.chain.slots.blockhashAt(scene.chain.slots.now() - 140n)
    const { body } = scene.plan({ blockhash })
    expect(await service.verify(body)).toMatchObject({ isValid: true })
    expect(await service.settle(body)).toMatchObject({
      errorReason: 'settle_exact_svm_block_height_exceeded',
    })
  })
})
