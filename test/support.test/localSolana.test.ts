import {
  createMint,
  getAssociatedTokenAddressSync,
  getOrCreateAssociatedTokenAccount,
  mintTo,
  TOKEN_2022_PROGRAM_ID,
} from '@solana/spl-token'
import {
  Connection,
  Keypair,
  PublicKey,
  SystemProgram,
  Transaction,
  type VersionedTransaction,
} from '@solana/web3.js'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { pollUntil } from '../support/pollUntil.js'
import { type LocalSolana, startLocalSolana } from '../support/solana/localChain.js'
import { createParties, signTransaction } from '../support/solana/payment.js'
import { associatedAccount } from '../support/solana/tokens.js'

describe('the local Solana cluster', () => {
  let chain: LocalSolana
  let connection: Connection
  beforeAll(async () => {
    // Slots pass by warps alone: by the clock, what lands late would land before a busy machine looks.
    chain = await startLocalSolana({ slotMs: 3_600_000 })
    connection = new Connection(chain.url, { commitment: 'confirmed', wsEndpoint: chain.websocketUrl })
  })
  afterEach(() => {
    chain.behaviour.landSlots = 0
    chain.behaviour.dropsSends = false
  })
  // The library polls for a while after it has its result: one chain serves all tests.
  afterAll(() => chain.stop())

  const firstFeePayer = (): Keypair => {
    const [feePayer] = chain.feePayers
    if (feePayer === undefined) throw new Error('There is no fee payer')
    return feePayer
  }

  /** A payment with both signatures. */
  const signFully = (amount = 1_000n): { transaction: VersionedTransaction; payTo: string } => {
    const { payer, payTo } = createParties(chain, amount)
    const transaction = signTransaction({ chain, payer, payTo, amount })
    transaction.sign([firstFeePayer()])
    return { transaction, payTo }
  }

  const send = ({ transaction }: { transaction: VersionedTransaction }, skipPreflight = false) =>
    connection.sendRawTransaction(transaction.serialize(), { skipPreflight })

  it('has the genesis hash whose first 32 characters are the CAIP-2 reference of mainnet', async () => {
    expect((await connection.getGenesisHash()).slice(0, 32)).toBe('5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp')
    expect(chain.network).toBe('solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp')
  })

  it('transfers lamports and confirms by websocket with the standard client', async () => {
    const to = Keypair.generate().publicKey
    const transfer = SystemProgram.transfer({
      fromPubkey: chain.authority.publicKey,
      toPubkey: to,
      lamports: 5_000_000,
    })
    const { blockhash, lastValidBlockHeight } = await connection.getLatestBlockhash()
    const signature = await connection.sendTransaction(new Transaction().add(transfer), [chain.authority])
    const { value } = await connection.confirmTransaction({ signature, blockhash, lastValidBlockHeight })
    expect(value.err).toBeNull()
    expect(await connection.getBalance(to)).toBe(5_000_000)
  })

  it('runs Token-2022 with the standard token library', async () => {
    const mint = await createMint(
      connection,
      chain.authority,
      chain.authority.publicKey,
      null,
      6,
      Keypair.generate(),
      { commitment: 'confirmed' },
      TOKEN_2022_PROGRAM_ID,
    )
    const owner = Keypair.generate().publicKey
    const account = await getOrCreateAssociatedTokenAccount(
      connection,
      chain.authority,
      mint,
      owner,
      false,
      'confirmed',
      {},
      TOKEN_2022_PROGRAM_ID,
    )
    await mintTo(
      connection,
      chain.authority,
      mint,
      account.address,
      chain.authority,
      7n,
      [],
      {},
      TOKEN_2022_PROGRAM_ID,
    )
    expect(chain.holdingOf(owner.toBase58(), mint.toBase58(), TOKEN_2022_PROGRAM_ID.toBase58())).toBe(7n)
  })

  it('derives token accounts as the token library does', () => {
    const owner = Keypair.generate().publicKey
    expect(associatedAccount(owner.toBase58(), chain.usdc)).toBe(
      getAssociatedTokenAddressSync(new PublicKey(chain.usdc), owner).toBase58(),
    )
  })

  it('transfers tokens once, and rejects the same transaction a second time', async () => {
    const signed = signFully()
    await send(signed)
    await expect(send(signed)).rejects.toThrow('already been processed')
    await send(signed, true)
    expect(chain.holdingOf(signed.payTo)).toBe(1_000n)
  })

  it('rejects an invalid signature', async () => {
    const { transaction } = signFully()
    const bytes = transaction.serialize()
    bytes[70] = (bytes[70] ?? 0) ^ 1
    await expect(connection.sendRawTransaction(bytes)).rejects.toThrow('signature verification failure')
  })

  it('rejects a blockhash after 150 blocks', async () => {
    const signed = signFully()
    chain.slots.warp(151)
    await expect(send(signed)).rejects.toThrow('Blockhash not found')
    const { value } = await connection.isBlockhashValid(signed.transaction.message.recentBlockhash)
    expect(value).toBe(false)
  })

  it('includes a failed transaction in a block and charges its fee', async () => {
    const { payer, payTo } = createParties(chain, 10n)
    const transaction = signTransaction({ chain, payer, payTo, amount: 11n })
    transaction.sign([firstFeePayer()])
    const feePayer = firstFeePayer().publicKey.toBase58()
    const before = chain.balanceOf(feePayer)
    const signature = await send({ transaction }, true)
    const { value } = await connection.getSignatureStatus(signature)
    expect(value?.err).toEqual({ InstructionError: [2, { Custom: 1 }] })
    expect(before - chain.balanceOf(feePayer)).toBe(10_001n)
  })

  it('lands transactions late or never on request', async () => {
    chain.behaviour.landSlots = 5
    const late = signFully()
    const signature = await send(late)
    expect((await connection.getSignatureStatus(signature)).value).toBeNull()
    chain.slots.warp(5)
    await pollUntil(async () => (await connection.getSignatureStatus(signature)).value, 'the late block')
    expect(chain.holdingOf(late.payTo)).toBe(1_000n)
    chain.behaviour.dropsSends = true
    const dropped = signFully()
    await send(dropped)
    chain.slots.warp(10)
    expect(chain.holdingOf(dropped.payTo)).toBe(0n)
  })

  it('removes a block with its transactions, and can land them again', async () => {
    const signed = signFully()
    // Its blockhash is of a block that is not removed.
    chain.slots.warp(2)
    const signature = await send(signed)
    const slot = (await connection.getSignatureStatus(signature)).value?.slot ?? 0
    const before = await connection.getBlock(slot, {
      commitment: 'confirmed',
      transactionDetails: 'none',
      maxSupportedTransactionVersion: 0,
    })
    chain.ledger.orphanFrom(BigInt(slot))
    const after = await connection.getBlock(slot, {
      commitment: 'confirmed',
      transactionDetails: 'none',
      maxSupportedTransactionVersion: 0,
    })
    expect(after?.blockhash).not.toBe(before?.blockhash)
    expect((await connection.getSignatureStatus(signature)).value).toBeNull()
    expect(chain.holdingOf(signed.payTo)).toBe(0n)
    await send(signed)
    expect(chain.holdingOf(signed.payTo)).toBe(1_000n)
  })
})
