import { createApproveInstruction, createAssociatedTokenAccountInstruction } from '@solana/spl-token'
import {
  ComputeBudgetProgram,
  Keypair,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
} from '@solana/web3.js'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type ByReason, listByReason } from '../../../support/byReason.js'
import { expectExplained } from '../../../support/explained.js'
import { createParties, memoInstruction } from '../../../support/solana/payment.js'
import { lighthouseProgram, token2022Program } from '../../../support/solana/programs.js'
import { associatedAccount } from '../../../support/solana/tokens.js'
import { useScene } from '../../../support/useScene.js'
import { openScene, type PaymentPlan, type SolanaService } from '../scene.js'

/* Every rule, with the reason for which a payment that breaks it is refused. */

const scene = useScene(() => openScene({ feePayerCount: 2 }), { isResetAfterEach: false })
let service: SolanaService

beforeAll(async () => {
  service = await scene.open()
})
afterEach(() => Object.assign(scene.chain.behaviour, { dropsSends: false }))

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

const payload = 'invalid_exact_svm_payload_'

/** A foreign instruction behind some of Lighthouse. */
const unknownAt = (name: string, index: number): Readonly<Record<string, () => PaymentPlan>> => ({
  [`the ${name} instruction is a memo or from Lighthouse`]: () => ({
    change: append(
      ...Array.from({ length: index }, lighthouse),
      new TransactionInstruction({ programId: SystemProgram.programId, keys: [], data: Buffer.alloc(4) }),
    ),
  }),
})

const rules: ByReason<() => PaymentPlan> = {
  invalid_exact_svm_fee_payer_not_managed_by_facilitator: {
    'the fee payer is ours': () => ({ feePayer: Keypair.generate() }),
  },
  invalid_exact_svm_fee_payer_mismatch: {
    'extra.feePayer is ours': () => ({ extra: { feePayer: randomKey().toBase58() } }),
  },
  [`${payload}excessive_signers`]: {
    'only fee payer and payer must sign': () => {
      const cosigner = Keypair.generate()
      const keys = [{ pubkey: cosigner.publicKey, isSigner: true, isWritable: false }]
      const memo = new TransactionInstruction({ ...memoInstruction('hello'), keys })
      return { cosigners: [cosigner], change: append(memo) }
    },
  },
  [`${payload}transaction_instructions_length`]: {
    'there are at least three instructions': () => ({
      change: (all) => all.filter((_, index) => index === 0 || index === 2),
    }),
    'there are at most seven instructions': () => ({
      change: append(...Array.from({ length: 5 }, lighthouse)),
    }),
  },
  [`${payload}transaction_instructions_compute_limit_instruction`]: {
    'the first instruction is SetComputeUnitLimit': () => ({ change: replaceAt(0, price(1)) }),
  },
  [`${payload}transaction_instructions_compute_limit_instruction_too_high`]: {
    'the compute units are within the limit': () => ({ change: replaceAt(0, units(400_001)) }),
  },
  [`${payload}transaction_instructions_compute_price_instruction`]: {
    'the second instruction is SetComputeUnitPrice': () => ({ change: replaceAt(1, units(1)) }),
  },
  [`${payload}transaction_instructions_compute_price_instruction_too_high`]: {
    'the priority fee is within the limit':
      // 20,000 units at 5,000,001 micro-lamports: one lamport above 100,000.
      () => ({ change: replaceAt(1, price(5_000_001)) }),
  },
  [`${payload}no_transfer_instruction`]: {
    'the third instruction is TransferChecked': () => ({
      change: (all) =>
        all.map((each, index) =>
          index === 2
            ? createApproveInstruction(randomKey(), randomKey(), each.keys[3]?.pubkey ?? randomKey(), 5n)
            : each,
        ),
    }),
    'TransferChecked has exactly four accounts': () => ({
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
  [`${payload}unknown_fifth_instruction`]: unknownAt('fifth', 1),
  [`${payload}unknown_sixth_instruction`]: unknownAt('sixth', 2),
  [`${payload}unknown_fourth_instruction`]: {
    ...unknownAt('fourth', 0),
    'the fee payer funds no new account': () => ({
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
  [`${payload}unknown_seventh_instruction`]: {
    ...unknownAt('seventh', 3),
    'there are at most three Lighthouse instructions': () => ({
      change: append(lighthouse(), lighthouse(), lighthouse(), lighthouse()),
    }),
  },
  [`${payload}memo_count`]: {
    'there is at most one memo': () => ({ change: append(memoInstruction('a'), memoInstruction('b')) }),
    'there is a memo if extra.memo is set': () => ({ memo: null, extra: { memo: 'order 7' } }),
  },
  [`${payload}memo_mismatch`]: {
    'the memo equals extra.memo': () => ({ memo: 'order 8', extra: { memo: 'order 7' } }),
    'the memo has at most 256 bytes': () => ({ memo: 'x'.repeat(257) }),
  },
  [`${payload}transaction_fee_payer_transferring_funds`]: {
    'no instruction uses an account of ours': () => {
      const pubkey = scene.chain.feePayers[1]?.publicKey ?? randomKey()
      const keys = [{ pubkey, isSigner: false, isWritable: true }]
      return { change: append(new TransactionInstruction({ ...lighthouse(), keys })) }
    },
  },
  [`${payload}mint_mismatch`]: {
    'the mint is the asset': () => ({
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
  [`${payload}amount_mismatch`]: {
    'the full amount is paid': () => ({ amount: 10n, transferred: 9n }),
    'not more than the amount is paid': () => ({ amount: 10n, transferred: 11n, balance: 11n }),
  },
  invalid_payment_amount: {
    'the amount is not zero': () => ({ amount: 0n }),
  },
  [`${payload}recipient_mismatch`]: {
    'the destination is the associated token account of payTo': () => ({
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
    'payTo still owns that token account': () => {
      const payTo = randomKey().toBase58()
      const address = associatedAccount(payTo, scene.chain.usdc)
      scene.chain.give({ owner: randomKey().toBase58(), amount: 0n, address })
      return { payTo }
    },
  },
  [`${payload}signature_invalid`]: {
    'the owner of the source account signs': () => {
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
  self_payment: {
    'payer and recipient differ': () => {
      const payer = Keypair.generate()
      return { payer, payTo: payer.publicKey.toBase58() }
    },
  },
  unsupported_asset: {
    'the asset is offered': () => ({ asset: randomKey().toBase58() }),
  },
  insufficient_funds: {
    'the payer has enough tokens': () => ({ balance: 9_999n }),
  },
  settle_exact_svm_block_height_exceeded: {
    'the blockhash is known': () => ({ blockhash: randomKey().toBase58() }),
    'the blockhash has not expired': () => ({
      blockhash: scene.chain.slots.blockhashAt(scene.chain.slots.now() - 200n),
    }),
  },
  [`${payload}transaction_sender_ata_not_found`]: {
    'the payer has a token account': () => ({ payer: Keypair.generate() }),
  },
  [`${payload}transaction_receiver_ata_not_found`]: {
    'the recipient has a token account': () => ({ payTo: randomKey().toBase58() }),
  },
  asset_not_deployed_contract: {
    'the mint belongs to the token program of the transfer': () => ({ program: token2022Program }),
  },
}

describe('checks of exact on Solana', () => {
  it.each(listByReason(rules))('refuses unless %s: %s', async (_rule, reason, plan) => {
    const { body, payTo } = scene.plan(plan())
    const answer = await service.verify(body)
    expect(answer).toMatchObject({ isValid: false, invalidReason: reason })
    await expectExplained(service, body, answer)
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
