import {
  createApproveInstruction,
  createEnableRequiredMemoTransfersInstruction,
  createInitializeMintInstruction,
  createInitializeTransferFeeConfigInstruction,
  createReallocateInstruction,
  createTransferCheckedInstruction,
  ExtensionType,
  getMintLen,
  getOrCreateAssociatedTokenAccount,
  mintTo,
  TOKEN_2022_PROGRAM_ID,
} from '@solana/spl-token'
import {
  AddressLookupTableAccount,
  ComputeBudgetProgram,
  Connection,
  Keypair,
  PublicKey,
  SystemProgram,
  sendAndConfirmTransaction,
  Transaction,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createLogger } from '../../../src/platform/logger.js'
import { reconcileUntil } from '../../support/coreClient.js'
import { pollUntil } from '../../support/pollUntil.js'
import { shiftedClock } from '../../support/shiftedClock.js'
import {
  createParties,
  listInstructions,
  memoInstruction,
  type SolanaPaymentBody,
  solanaPayment,
} from '../../support/solana/payment.js'
import { token2022Program } from '../../support/solana/programs.js'
import { associatedAccount } from '../../support/solana/tokens.js'
import { useScene } from '../../support/useScene.js'
import { openScene, type SolanaScene, type SolanaService } from './scene.js'

/* Numbers refer to the project's list of attacks on facilitators. */

const scene = useScene(() => openScene({ feePayerCount: 2 }))
let service: SolanaService

const open = async (options: Parameters<SolanaScene['open']>[0] = {}) => {
  service = await scene.open(options)
  return service
}

const feePayers = () => scene.chain.feePayers.map(({ publicKey }) => publicKey)
const sumFeePayerBalances = () =>
  feePayers().reduce((sum, key) => sum + scene.chain.balanceOf(key.toBase58()), 0n)

const withTransaction = (body: SolanaPaymentBody, transaction: string): SolanaPaymentBody => ({
  ...body,
  paymentPayload: { ...body.paymentPayload, payload: { transaction } },
})
const bytesOf = ({ paymentPayload }: SolanaPaymentBody) =>
  Buffer.from(paymentPayload.payload.transaction, 'base64')

/** Verify and settle refuse the payment, and none of our lamports are spent. */
const expectRefused = async (body: unknown, reason: string): Promise<void> => {
  const before = sumFeePayerBalances()
  expect(await service.verify(body)).toMatchObject({ isValid: false, invalidReason: reason })
  expect(await service.settle(body)).toMatchObject({ success: false, errorReason: reason, transaction: '' })
  expect(sumFeePayerBalances()).toBe(before)
}

describe('A20: instructions that spend from the fee payer', () => {
  it.each([
    [
      'a transfer of lamports',
      (ours: PublicKey, to: PublicKey) =>
        SystemProgram.transfer({ fromPubkey: ours, toPubkey: to, lamports: 1_000_000 }),
    ],
    [
      'an assignment of our account',
      (ours: PublicKey, to: PublicKey) => SystemProgram.assign({ accountPubkey: ours, programId: to }),
    ],
  ])('are refused: %s', async (_, instruction) => {
    await open()
    const [ours = PublicKey.default] = feePayers()
    const { body } = scene.plan({
      change: (all) => [...all.slice(0, 3), instruction(ours, Keypair.generate().publicKey)],
    })
    await expectRefused(body, 'invalid_exact_svm_payload_unknown_fourth_instruction')
  })

  it('are refused when our own tokens replace the transfer', async () => {
    await open()
    const [ours = PublicKey.default] = feePayers()
    const usdc = new PublicKey(scene.chain.usdc)
    const account = scene.chain.give({ owner: ours.toBase58(), amount: 1_000_000n })
    const payer = Keypair.generate()
    const { payTo } = createParties(scene.chain, 0n)
    const { body } = scene.plan({
      payer,
      payTo,
      change: (all) => [
        ...all.slice(0, 2),
        createTransferCheckedInstruction(
          new PublicKey(account),
          usdc,
          new PublicKey(associatedAccount(payTo, scene.chain.usdc)),
          ours,
          10_000n,
          6,
        ),
        // A second signer: the payer signs the memo.
        new TransactionInstruction({
          ...memoInstruction('mine'),
          keys: [{ pubkey: payer.publicKey, isSigner: true, isWritable: false }],
        }),
      ],
    })
    await expectRefused(body, 'invalid_exact_svm_payload_transaction_fee_payer_transferring_funds')
    expect(scene.chain.holdingOf(payTo)).toBe(0n)
  })

  it('are refused when they approve another spender', async () => {
    await open()
    const { body } = scene.plan({
      change: (all) => [
        ...all.slice(0, 3),
        createApproveInstruction(
          all[2]?.keys[0]?.pubkey ?? PublicKey.default,
          Keypair.generate().publicKey,
          all[2]?.keys[3]?.pubkey ?? PublicKey.default,
          1n,
        ),
      ],
    })
    await expectRefused(body, 'invalid_exact_svm_payload_unknown_fourth_instruction')
  })
})

describe('A23: transfer fees and concurrent balance changes', () => {
  it('refuses a payment in a token that withholds a transfer fee', async () => {
    await open({ environment: { SOLANA_TOKENS_mainnet: '*' } })
    const mint = Keypair.generate()
    const { authority } = scene.chain
    const connection = new Connection(scene.chain.url, {
      commitment: 'confirmed',
      wsEndpoint: scene.chain.websocketUrl,
    })
    const space = getMintLen([ExtensionType.TransferFeeConfig])
    const { publicKey } = authority
    await sendAndConfirmTransaction(
      connection,
      new Transaction().add(
        SystemProgram.createAccount({
          fromPubkey: publicKey,
          newAccountPubkey: mint.publicKey,
          space,
          lamports: await connection.getMinimumBalanceForRentExemption(space),
          programId: TOKEN_2022_PROGRAM_ID,
        }),
        createInitializeTransferFeeConfigInstruction(
          mint.publicKey,
          publicKey,
          publicKey,
          100,
          1_000_000n,
          TOKEN_2022_PROGRAM_ID,
        ),
        createInitializeMintInstruction(mint.publicKey, 6, publicKey, null, TOKEN_2022_PROGRAM_ID),
      ),
      [authority, mint],
    )
    const asset = mint.publicKey.toBase58()
    const { payer, payTo } = await openFeeAccounts(connection, mint.publicKey)
    const body = solanaPayment({
      chain: scene.chain,
      payer,
      payTo,
      amount: 10_000n,
      asset,
      program: token2022Program,
    })
    await expectRefused(body, 'invalid_exact_svm_payload_amount_mismatch')
  })

  it('accepts a payment while others pay the same recipient between the balance reads', async () => {
    const proxy = await scene.openProxy()
    await open({ rpcUrls: [proxy.url] })
    const { body, payTo } = scene.plan()
    scene.chain.give({ owner: payTo, amount: 100n })
    // Simulates a balance read from before the other payment.
    proxy.setFault('getMultipleAccounts', {
      kind: 'tamper',
      change: (result) => (countAccounts(result) > 1 ? withLessAt(result, 1, 5n) : result),
    })
    expect(await service.verify(body)).toMatchObject({ isValid: true })
  })

  it('settles concurrent payments to the same merchant', async () => {
    await open()
    const { payTo } = createParties(scene.chain, 0n)
    const plans = Array.from({ length: 8 }, () => scene.plan({ payTo }))
    const answers = await Promise.all(plans.map(({ body }) => service.settle(body)))
    expect(answers.filter(({ success }) => success)).toHaveLength(8)
    expect(scene.chain.holdingOf(payTo)).toBe(80_000n)
  })
})

describe('a recipient that requires memos', () => {
  it('is refused, because the memo of a payment comes after its transfer', async () => {
    await open({ environment: { SOLANA_TOKENS_mainnet: '*' } })
    const { authority } = scene.chain
    const connection = new Connection(scene.chain.url, {
      commitment: 'confirmed',
      wsEndpoint: scene.chain.websocketUrl,
    })
    const mint = Keypair.generate().publicKey.toBase58()
    scene.chain.createMint({ mint, program: token2022Program })
    const owner = Keypair.generate()
    const { address } = await getOrCreateAssociatedTokenAccount(
      connection,
      authority,
      new PublicKey(mint),
      owner.publicKey,
      false,
      'confirmed',
      {},
      TOKEN_2022_PROGRAM_ID,
    )
    const payment = {
      chain: scene.chain,
      payer: createParties(scene.chain, 20_000n, { mint, program: token2022Program }).payer,
      payTo: owner.publicKey.toBase58(),
      amount: 10_000n,
      asset: mint,
      program: token2022Program,
    }
    expect(await service.verify(solanaPayment(payment))).toMatchObject({ isValid: true })
    await sendAndConfirmTransaction(
      connection,
      new Transaction().add(
        createReallocateInstruction(
          address,
          authority.publicKey,
          [ExtensionType.MemoTransfer],
          owner.publicKey,
        ),
        createEnableRequiredMemoTransfersInstruction(address, owner.publicKey),
      ),
      [authority, owner],
    )
    await expectRefused(solanaPayment(payment), 'invalid_exact_svm_transaction_simulation_failed')
  })
})

describe('A24: hidden accounts and durable nonces', () => {
  it('refuses address lookup tables', async () => {
    await open()
    const plan = scene.plan()
    const instructions = listInstructions({
      chain: scene.chain,
      payer: plan.payer,
      payTo: plan.payTo,
      amount: 10_000n,
    })
    const table = new AddressLookupTableAccount({
      key: Keypair.generate().publicKey,
      state: {
        deactivationSlot: 2n ** 64n - 1n,
        lastExtendedSlot: 0,
        lastExtendedSlotStartIndex: 0,
        addresses: instructions[2]?.keys.slice(0, 3).map(({ pubkey }) => pubkey) ?? [],
      },
    })
    const [payerKey = PublicKey.default] = feePayers()
    const transaction = new VersionedTransaction(
      new TransactionMessage({
        payerKey,
        recentBlockhash: scene.chain.slots.blockhashAt(scene.chain.slots.now()),
        instructions,
      }).compileToV0Message([table]),
    )
    transaction.sign([plan.payer])
    const body = withTransaction(plan.body, Buffer.from(transaction.serialize()).toString('base64'))
    await expectRefused(body, 'invalid_exact_svm_smart_wallet_alt_resolution_not_available')
  })

  it('refuses durable nonces', async () => {
    await open()
    const nonceAuthority = scene.plan().payer
    const { body } = scene.plan({
      payer: nonceAuthority,
      change: (all) => [
        SystemProgram.nonceAdvance({
          noncePubkey: Keypair.generate().publicKey,
          authorizedPubkey: nonceAuthority.publicKey,
        }),
        ...all,
      ],
    })
    await expectRefused(body, 'invalid_exact_svm_payload_transaction_instructions_compute_limit_instruction')
  })
})

describe('A25: missing, foreign and leaked signatures', () => {
  it('refuses a transaction without the signature of the payer', async () => {
    await open()
    const { body } = scene.plan()
    const bytes = bytesOf(body)
    bytes.fill(0, 65, 129)
    await expectRefused(
      withTransaction(body, bytes.toString('base64')),
      'invalid_exact_svm_payload_signature_invalid',
    )
  })

  it('refuses a signature of another message', async () => {
    await open()
    const [one, two] = [scene.plan().body, scene.plan().body]
    const bytes = bytesOf(one)
    bytes.set(bytesOf(two).subarray(65, 129), 65)
    await expectRefused(
      withTransaction(one, bytes.toString('base64')),
      'invalid_exact_svm_payload_signature_invalid',
    )
  })

  it('refuses a payment by a delegate of the token account', async () => {
    await open()
    const { chain } = scene
    const delegate = Keypair.generate()
    const owner = Keypair.generate().publicKey.toBase58()
    const account = chain.give({ owner, amount: 10_000n })
    chain.approve(account, delegate.publicKey.toBase58(), 10_000n)
    const { body, payTo } = scene.plan({
      payer: delegate,
      change: (all) => {
        const [limit, price, transfer, memo] = all
        if (limit === undefined || price === undefined || transfer === undefined || memo === undefined)
          return all
        const source = { pubkey: new PublicKey(account), isSigner: false, isWritable: true }
        const keys = transfer.keys.with(0, source)
        return [limit, price, new TransactionInstruction({ ...transfer, keys }), memo]
      },
    })
    await expectRefused(body, 'invalid_exact_svm_payload_signature_invalid')
    expect(chain.holdingOf(payTo)).toBe(0n)
  })

  it('sends no transaction with our signature before it is recorded', async () => {
    const proxy = await scene.openProxy()
    await open({ rpcUrls: [proxy.url] })
    const { body } = scene.plan()
    await service.verify(body)
    const { transaction } = await service.settle(body)
    expect(transaction).not.toBe('')
    const shown = proxy.calls
      .filter(({ method }) => method === 'simulateTransaction')
      .map(({ params }) => VersionedTransaction.deserialize(Buffer.from(String(params[0]), 'base64')))
    expect(shown.length).toBeGreaterThan(1)
    for (const { signatures } of shown) expect(signatures[0]).toEqual(new Uint8Array(64))
  })

  it('simulates with the blockhash of the transaction, never with a replaced one', async () => {
    const proxy = await scene.openProxy()
    await open({ rpcUrls: [proxy.url] })
    await service.verify(scene.plan().body)
    const [, options] = proxy.calls.find(({ method }) => method === 'simulateTransaction')?.params ?? []
    expect(options).toMatchObject({ sigVerify: false, replaceRecentBlockhash: false })
  })
})

describe('A4: one authorization in several encodings', () => {
  it('earns one success, whatever the bytes at our signature', async () => {
    await open()
    const { body, payTo } = scene.plan()
    const changed = bytesOf(body).fill(0x5a, 1, 65).toString('base64')
    expect(await service.settle(body)).toMatchObject({ success: true })
    const second = await service.settle(withTransaction(body, changed), 'other caller')
    expect(second).toMatchObject({ success: false, errorReason: 'duplicate_settlement' })
    expect(scene.chain.holdingOf(payTo)).toBe(10_000n)
  })

  it('earns one success when two payments are identical bytes', async () => {
    await open()
    const { chain } = scene
    const parties = createParties(chain, 20_000n)
    const blockhash = chain.slots.blockhashAt(chain.slots.now())
    const pay = () => solanaPayment({ chain, ...parties, amount: 10_000n, memo: null, blockhash })
    expect(await service.settle(pay())).toMatchObject({ success: true })
    expect(await service.settle(pay(), 'another shop')).toMatchObject({ errorReason: 'duplicate_settlement' })
    expect(chain.holdingOf(parties.payTo)).toBe(10_000n)
  })

  it.each([
    ['excess padding', (text: string) => `${text.replace(/=*$/, '')}===`],
    ['a line break', (text: string) => `${text}\n`],
    ['the URL-safe alphabet', (text: string) => `${text.replaceAll('+', '-').replaceAll('/', '_')}-`],
    [
      'an additional byte',
      (text: string) => Buffer.concat([Buffer.from(text, 'base64'), Buffer.alloc(1)]).toString('base64'),
    ],
  ])('refuses a non-canonical encoding: %s', async (_, reencode) => {
    await open()
    const { body } = scene.plan()
    const text = body.paymentPayload.payload.transaction
    await expectRefused(
      withTransaction(body, reencode(text)),
      'invalid_exact_svm_payload_transaction_could_not_be_decoded',
    )
  })

  it('earns one success for 12 concurrent callers of two instances, and moves the money once', async () => {
    const [one, two] = [await open(), await scene.open()]
    scene.chain.behaviour.landSlots = 1
    scene.chain.slots.resume()
    const { body, payTo } = scene.plan()
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) => (index % 2 === 0 ? one : two).settle(body, `caller ${index}`)),
    )
    expect(answers.filter(({ success }) => success)).toHaveLength(1)
    const reasons = answers.flatMap(({ errorReason }) => errorReason ?? [])
    expect(reasons).toEqual(Array(11).fill('duplicate_settlement'))
    expect(scene.chain.holdingOf(payTo)).toBe(10_000n)
  })
})

describe('A14 and A18: cost limits', () => {
  it('refuses settlements beyond the hourly fee budget, before anything is recorded', async () => {
    await open({ environment: { SOLANA_FEE_BUDGET_LAMPORTS_PER_HOUR_mainnet: '40000' } })
    expect(await service.settle(scene.plan().body)).toMatchObject({ success: true })
    expect(await service.settle(scene.plan().body)).toMatchObject({ success: true })
    const third = scene.plan()
    await expect(service.settle(third.body)).rejects.toThrow('budget')
    expect(scene.chain.holdingOf(third.payTo)).toBe(0n)
  })
})

describe('one balance for many settlements', () => {
  /** Payments of 10,000 that a single balance of 10,000 covers one at a time. */
  const planAll = (count: number) => {
    const { chain } = scene
    const parties = createParties(chain, 10_000n)
    return Array.from({ length: count }, () => solanaPayment({ chain, ...parties, amount: 10_000n }))
  }

  it('is settled once, and costs the fee of one settlement', async () => {
    const [one, two] = [await open(), await scene.open()]
    scene.chain.behaviour.landSlots = 3
    scene.chain.slots.resume()
    const before = sumFeePayerBalances()
    const answers = await Promise.all(
      planAll(16).map((body, index) => (index % 2 === 0 ? one : two).settle(body)),
    )
    expect(answers.filter(({ success }) => success)).toHaveLength(1)
    const refused = answers.filter(({ success }) => !success)
    for (const { errorReason, transaction } of refused) {
      expect({ errorReason, transaction }).toEqual({ errorReason: 'insufficient_funds', transaction: '' })
    }
    // 10,000 for the signatures, and one for the priority.
    expect(before - sumFeePayerBalances()).toBe(10_001n)
  })

  it('covers several settlements at once that fit into it', async () => {
    await open()
    const { chain } = scene
    chain.behaviour.landSlots = 2
    chain.slots.resume()
    const parties = createParties(chain, 30_000n)
    const bodies = Array.from({ length: 3 }, () => solanaPayment({ chain, ...parties, amount: 10_000n }))
    const answers = await Promise.all(bodies.map((body) => service.settle(body)))
    expect(answers.map(({ success }) => success)).toEqual([true, true, true])
  })

  it('is that of the account which is spent: each account of a payer covers its own settlements', async () => {
    const [one, two] = [await open(), await scene.open()]
    const { chain } = scene
    chain.behaviour.landSlots = 3
    chain.slots.resume()
    const parties = createParties(chain, 30_000n)
    const owner = parties.payer.publicKey.toBase58()
    const second = chain.give({
      owner,
      amount: 10_000n,
      address: Keypair.generate().publicKey.toBase58(),
    })
    const payFrom = (source: string | null) =>
      solanaPayment({
        chain,
        ...parties,
        amount: 10_000n,
        change: ([limit, price, transfer, ...rest]) => {
          const [account] = transfer?.keys ?? []
          if (account !== undefined && source !== null) account.pubkey = new PublicKey(source)
          return [limit, price, transfer, ...rest].filter((each) => each !== undefined)
        },
      })
    const bodies = [null, null, null, second, second, second].map(payFrom)
    const answers = await Promise.all(
      bodies.map((body, index) => (index % 2 === 0 ? one : two).settle(body, 'shop')),
    )
    const [first, rest] = [answers.slice(0, 3), answers.slice(3)]
    expect(first.map(({ success }) => success)).toEqual([true, true, true])
    expect(rest.filter(({ success }) => success)).toHaveLength(1)
    for (const { errorMessage, transaction } of rest.filter(({ success }) => !success)) {
      expect(errorMessage).toMatch(/^The balance of the payer's account is 10000; .* hold 10000 of it/)
      expect(transaction).toBe('')
    }
    expect(chain.holdingOf(parties.payTo)).toBe(40_000n)
  })

  it('is free again after a settlement', async () => {
    await open()
    const { chain } = scene
    const parties = createParties(chain, 10_000n)
    const pay = () => service.settle(solanaPayment({ chain, ...parties, amount: 10_000n }))
    expect(await pay()).toMatchObject({ success: true })
    chain.give({ owner: parties.payer.publicKey.toBase58(), amount: 10_000n })
    expect(await pay()).toMatchObject({ success: true })
  })

  it('is held by settlements alone: verifications see all of it', async () => {
    await open()
    const [first, second] = planAll(2)
    expect(await service.verify(first)).toMatchObject({ isValid: true })
    expect(await service.verify(second)).toMatchObject({ isValid: true })
    expect(await service.settle(second)).toMatchObject({ success: true })
  })

  it('stops a payer whose settlements fail in blocks', async () => {
    await open({ environment: { FAILED_SETTLES_PER_PAYER_PER_HOUR: '2' } })
    const { chain } = scene
    const parties = createParties(chain, 10_000n)
    const owner = parties.payer.publicKey.toBase58()
    const pay = () => service.settle(solanaPayment({ chain, ...parties, amount: 10_000n }))
    chain.behaviour.finalizeSlots = 0
    for (const _ of [1, 2]) {
      chain.behaviour.landSlots = 50
      const settling = pay()
      await pollUntil(chain.ledger.hasWaiting, 'the first send')
      chain.give({ owner, amount: -10_000n })
      chain.slots.warp(50)
      chain.ledger.advance()
      expect(await settling).toMatchObject({ errorReason: 'invalid_exact_svm_transaction_failed' })
      chain.give({ owner, amount: 10_000n })
    }
    chain.behaviour.landSlots = 0
    const before = sumFeePayerBalances()
    await expect(pay()).rejects.toThrow('failed on chain')
    expect(sumFeePayerBalances()).toBe(before)
  })
})

describe('the priority fee of a caller without an API key', () => {
  const planWithPrice = (microLamports: number) =>
    scene.plan({
      change: (all) => [
        ...all.slice(0, 1),
        ComputeBudgetProgram.setComputeUnitPrice({ microLamports }),
        ...all.slice(2),
      ],
    }).body

  it('is 10,000 lamports at most, and more with a key', async () => {
    await open()
    // Of 20,000 compute units.
    const [atLimit, above] = [planWithPrice(500_000), planWithPrice(500_050)]
    expect(await service.verify(atLimit)).toMatchObject({ isValid: true })
    const reason = 'invalid_exact_svm_payload_transaction_instructions_compute_price_instruction_too_high'
    await expectRefused(above, reason)
    expect(await service.verify(above, 'an account')).toMatchObject({ isValid: true })
    expect(await service.settle(above, 'an account')).toMatchObject({ success: true })
  })
})

describe('A41: a failure that is not final', () => {
  const environment = { SETTLE_WAIT_SECONDS: '1' }

  /** Settles a payment whose payer moves the tokens away before its block; returns the answer and the block. */
  const settleFailing = async () => {
    await open({ environment })
    const plan = scene.plan()
    const { chain } = scene
    // The block waits for the warp, however slow the send is.
    chain.behaviour.landSlots = 50
    const settling = service.settle(plan.body)
    await pollUntil(chain.ledger.hasWaiting, 'the first send')
    chain.give({ owner: plan.payer.publicKey.toBase58(), amount: -10_000n })
    chain.slots.warp(50)
    chain.ledger.advance()
    chain.behaviour.landSlots = 0
    const answer = await settling
    const landed = chain.ledger.find(answer.transaction)
    if (landed?.error == null) throw new Error('The transaction did not fail in a block')
    return { ...plan, answer, slot: landed.slot }
  }

  it('is pending, so that the same bytes count when they pay after a reorg', async () => {
    const { body, payer, payTo, answer, slot } = await settleFailing()
    expect(answer).toMatchObject({ success: false, errorReason: 'settlement_pending', status: 'pending' })
    scene.chain.ledger.orphanFrom(slot)
    scene.chain.give({ owner: payer.publicKey.toBase58(), amount: 10_000n })
    await reconcileUntil(service, answer, 'confirmed')
    expect(scene.chain.holdingOf(payTo)).toBe(10_000n)
    expect(await service.settle(body)).toMatchObject({ success: true, transaction: answer.transaction })
  })

  it('stays pending in the reconciler until the block is finalized', async () => {
    const { body, answer } = await settleFailing()
    await service.reconcile()
    expect(await service.settle(body)).toMatchObject({ errorReason: 'settlement_pending' })
    scene.chain.slots.warp(31)
    await reconcileUntil(service, answer, 'failed')
    const { getSettlementByTransaction } = service.core.useCases.core
    const { network } = scene.chain
    expect(await getSettlementByTransaction({ network, transaction: answer.transaction })).toMatchObject({
      status: 'failed',
      errorReason: 'invalid_exact_svm_transaction_failed',
    })
  })

  it('above the cross-check amount needs every healthy endpoint', async () => {
    const liars = [await scene.openProxy(), await scene.openProxy()]
    await open({
      rpcUrls: [...liars.map(({ url }) => url), scene.chain.url],
      environment: { ...environment, SOLANA_CROSS_CHECK_AMOUNT: '10000' },
    })
    for (const liar of liars) {
      liar.setFault('getSignatureStatuses', {
        kind: 'tamper',
        change: () => ({
          context: { slot: 1_000_000 },
          value: [{ slot: 5, err: 'AccountNotFound', confirmationStatus: 'finalized' }],
        }),
      })
    }
    const { body, payTo } = scene.plan()
    const pending = await service.settle(body)
    expect(pending).toMatchObject({ errorReason: 'settlement_pending' })
    await pollUntil(() => scene.chain.holdingOf(payTo) === 10_000n, 'the payment to arrive')
    await service.reconcile()
    for (const liar of liars) liar.clearFaults()
    await reconcileUntil(service, pending, 'confirmed')
    expect(await service.settle(body)).toMatchObject({ success: true })
  })

  it('above the cross-check amount is not an expiry that only one of two endpoints proves', async () => {
    const clock = shiftedClock()
    const proxy = await scene.openProxy()
    await open({
      clock,
      rpcUrls: [proxy.url, scene.chain.url],
      environment: { ...environment, SOLANA_CROSS_CHECK_AMOUNT: '10000' },
    })
    scene.chain.behaviour.dropsSends = true
    const { body } = scene.plan()
    const pending = await service.settle(body)
    const { transaction } = pending
    scene.chain.slots.warp(300)
    clock.shift(120_000)
    proxy.setFault('getFirstAvailableBlock', { kind: 'error', code: -32_000, message: 'not now' })
    const statusOf = async () => {
      await service.reconcile()
      const { network } = scene.chain
      return (await service.core.useCases.core.getSettlementByTransaction({ network, transaction })).status
    }
    expect(await statusOf()).toBe('pending')
    proxy.clearFaults()
    await reconcileUntil(service, pending, 'failed')
  })
})

describe('A59: what a refusal says', () => {
  it.each([
    ['a transaction of another layout', (all: TransactionInstruction[]) => all.slice(1)],
    [
      'a transaction without a transfer',
      (all: TransactionInstruction[]) =>
        all.map((each, index) =>
          index === 2
            ? new TransactionInstruction({ ...memoInstruction('no transfer'), keys: each.keys.slice(3) })
            : each,
        ),
    ],
  ])('names the payer of %s', async (_, change) => {
    await open()
    const payer = Keypair.generate()
    const { payTo } = createParties(scene.chain, 0n)
    const { body } = scene.plan({ payer, payTo, change })
    const named = { payer: payer.publicKey.toBase58() }
    expect(await service.verify(body)).toMatchObject({ isValid: false, ...named })
    expect(await service.settle(body)).toMatchObject({ success: false, ...named })
  })

  it('is a reason of its own for an amount of zero', async () => {
    await open()
    await expectRefused(scene.plan({ amount: 0n }).body, 'invalid_payment_amount')
  })

  it('is duplicate_settlement in verify for a payment that was settled', async () => {
    await open()
    const { body, payer } = scene.plan({ balance: 20_000n })
    expect(await service.settle(body)).toMatchObject({ success: true })
    expect(await service.verify(body)).toMatchObject({
      isValid: false,
      invalidReason: 'duplicate_settlement',
      retryable: false,
      payer: payer.publicKey.toBase58(),
    })
  })
})

describe('data that a payer controls', () => {
  /** A transfer from a large account that is not the payer's. */
  const planFrom = (source: string) =>
    scene.plan({
      change: (all) => {
        const [limit, price, transfer, memo] = all
        if (limit === undefined || price === undefined || transfer === undefined || memo === undefined)
          return all
        const keys = transfer.keys.with(0, {
          pubkey: new PublicKey(source),
          isSigner: false,
          isWritable: true,
        })
        return [limit, price, new TransactionInstruction({ ...transfer, keys }), memo]
      },
    })

  it('is not downloaded whole from a large source account, and takes no endpoint out of use', async () => {
    const proxy = await scene.openProxy()
    // The node of the tests copies what it simulates with.
    const environment = { SOLANA_RPC_TIMEOUT_MS: '60000', VERIFY_DEADLINE_SECONDS: '60' }
    await open({ rpcUrls: [proxy.url], environment })
    let received = 0
    for (const method of ['getMultipleAccounts', 'getAccountInfo', 'simulateTransaction']) {
      proxy.setFault(method, {
        kind: 'tamper',
        change: (result) => {
          received += JSON.stringify(result).length
          return result
        },
      })
    }
    const large = Keypair.generate().publicKey.toBase58()
    scene.chain.allocate(large, 10 * 1024 * 1024)
    const attacks = Array.from({ length: 3 }, () => planFrom(large))
    const honest = scene.plan()
    const answers = await Promise.all([...attacks, honest].map(({ body }) => service.verify(body)))
    expect(answers.slice(0, 3)).toEqual(
      Array(3).fill(
        expect.objectContaining({
          isValid: false,
          invalidReason: 'invalid_exact_svm_payload_transaction_sender_ata_not_found',
        }),
      ),
    )
    expect(answers[3]).toMatchObject({ isValid: true })
    expect(service.core.listNetworks()[0]?.endpoints).toMatchObject([{ isUp: true }])
    expect(received).toBeLessThan(100_000)
  })
})

describe('A33: secrets', () => {
  it('stay out of the log when a node quotes the URL, and when a settlement fails', async () => {
    const lines: string[] = []
    const logger = createLogger({ level: 'debug', destination: { write: (line) => void lines.push(line) } })
    const proxy = await scene.openProxy()
    await open({
      rpcUrls: [`${proxy.url}/v1/very-secret-path`],
      logger,
      environment: { SETTLE_WAIT_SECONDS: '1' },
    })
    proxy.setFault('sendTransaction', { kind: 'error', code: -32_000, message: 'no very-secret-path here' })
    await service.settle(scene.plan().body)
    expect(lines.join()).not.toContain('very-secret-path')
    for (const { secretKey } of scene.chain.feePayers) {
      expect(lines.join()).not.toContain(Buffer.from(secretKey.subarray(0, 32)).toString('hex'))
    }
  })
})

const accountsAnswer = z.looseObject({
  value: z.array(z.looseObject({ data: z.tuple([z.string(), z.string()]) }).nullable()),
})
const countAccounts = (result: unknown) => accountsAnswer.parse(result).value.length

/** The same response with fewer tokens in one account. */
const withLessAt = (result: unknown, index: number, amount: bigint): unknown => {
  const answer = accountsAnswer.parse(result)
  const account = answer.value[index]
  if (account == null) throw new Error('The account does not exist')
  const data = Buffer.from(account.data[0], 'base64')
  data.writeBigUInt64LE(data.readBigUInt64LE(64) - amount, 64)
  return {
    ...answer,
    value: answer.value.with(index, { ...account, data: [data.toString('base64'), 'base64'] }),
  }
}

/** Payer and recipient with accounts for a transfer-fee mint. */
const openFeeAccounts = async (connection: Connection, mint: PublicKey) => {
  const { authority } = scene.chain
  const payer = Keypair.generate()
  const recipient = Keypair.generate().publicKey
  const openAccount = (owner: PublicKey) =>
    getOrCreateAssociatedTokenAccount(
      connection,
      authority,
      mint,
      owner,
      false,
      'confirmed',
      {},
      TOKEN_2022_PROGRAM_ID,
    )
  const account = await openAccount(payer.publicKey)
  await openAccount(recipient)
  await mintTo(
    connection,
    authority,
    mint,
    account.address,
    authority,
    10_000n,
    [],
    {},
    TOKEN_2022_PROGRAM_ID,
  )
  return { payer, payTo: recipient.toBase58() }
}
