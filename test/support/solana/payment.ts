import { randomUUID } from 'node:crypto'
import { createTransferCheckedInstruction, TOKEN_2022_PROGRAM_ID, TOKEN_PROGRAM_ID } from '@solana/spl-token'
import {
  ComputeBudgetProgram,
  Keypair,
  PublicKey,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import type { LocalSolana } from './localChain.js'
import { memoProgram, tokenProgram } from './programs.js'
import { associatedAccount } from './tokens.js'

/** The chain as far as a payment needs it. */
export type SolanaPaymentChain = Pick<LocalSolana, 'network' | 'usdc' | 'slots' | 'ledger' | 'feePayers'>

/** What a payment differs in from the usual one: USDC, with a memo, v0. */
export interface SolanaPaymentOptions {
  readonly chain: SolanaPaymentChain
  readonly payer: Keypair
  readonly payTo: string
  readonly amount: bigint
  /** What is transferred, where it is not what is asked. */
  readonly transferred?: bigint
  readonly asset?: string
  readonly program?: string
  readonly feePayer?: Keypair
  /** Base58 of the blockhash; the newest unless told. */
  readonly blockhash?: string
  /** Null for the form of three instructions. */
  readonly memo?: string | null
  readonly extra?: Readonly<Record<string, unknown>>
  readonly isLegacy?: boolean
  /** Changes the instructions before the payer signs. */
  readonly change?: (instructions: TransactionInstruction[]) => TransactionInstruction[]
  /** Who signs beside the payer. */
  readonly cosigners?: readonly Keypair[]
}

/** The body of /verify and /settle, version 2. */
export interface SolanaPaymentBody {
  readonly x402Version: 2
  readonly paymentPayload: {
    readonly x402Version: 2
    readonly accepted: SolanaRequirements
    readonly payload: { readonly transaction: string }
  }
  readonly paymentRequirements: SolanaRequirements
}

/** Payment requirements of `exact` on Solana. */
export interface SolanaRequirements {
  readonly scheme: 'exact'
  readonly network: string
  readonly amount: string
  readonly asset: string
  readonly payTo: string
  readonly maxTimeoutSeconds: number
  readonly extra: Readonly<Record<string, unknown>>
}

/** A payment as the ordinary client library builds it, signed by the payer only. */
export const solanaPayment = (options: SolanaPaymentOptions): SolanaPaymentBody => {
  const { chain, payTo, amount, asset = chain.usdc, extra } = options
  const feePayer = feePayerOf(options).publicKey.toBase58()
  const requirements: SolanaRequirements = {
    scheme: 'exact',
    network: chain.network,
    amount: amount.toString(),
    asset,
    payTo,
    maxTimeoutSeconds: 60,
    extra: extra ?? { feePayer },
  }
  const transaction = Buffer.from(signTransaction(options).serialize()).toString('base64')
  return {
    x402Version: 2,
    paymentPayload: { x402Version: 2, accepted: requirements, payload: { transaction } },
    paymentRequirements: requirements,
  }
}

/** The instructions of the usual form. */
export const listInstructions = (options: SolanaPaymentOptions): TransactionInstruction[] => {
  const { chain, payer, payTo, amount, transferred = amount, asset = chain.usdc } = options
  const { program = tokenProgram, memo = randomUUID() } = options
  const source = associatedAccount(payer.publicKey.toBase58(), asset, program)
  const instructions = [
    ComputeBudgetProgram.setComputeUnitLimit({ units: 20_000 }),
    ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 1 }),
    createTransferCheckedInstruction(
      new PublicKey(source),
      new PublicKey(asset),
      new PublicKey(associatedAccount(payTo, asset, program)),
      payer.publicKey,
      transferred,
      6,
      [],
      program === tokenProgram ? TOKEN_PROGRAM_ID : TOKEN_2022_PROGRAM_ID,
    ),
  ]
  return memo === null ? instructions : [...instructions, memoInstruction(memo)]
}

/** A memo that nobody needs to sign. */
export const memoInstruction = (memo: string): TransactionInstruction =>
  new TransactionInstruction({ programId: new PublicKey(memoProgram), keys: [], data: Buffer.from(memo) })

/** The partially signed transaction of a payment. */
export const signTransaction = (options: SolanaPaymentOptions): VersionedTransaction => {
  const { chain, payer, change = (same) => same, cosigners = [] } = options
  const message = new TransactionMessage({
    payerKey: feePayerOf(options).publicKey,
    recentBlockhash: options.blockhash ?? chain.slots.blockhashAt(chain.ledger.slotAt('confirmed')),
    instructions: change(listInstructions(options)),
  })
  const transaction = new VersionedTransaction(
    options.isLegacy === true ? message.compileToLegacyMessage() : message.compileToV0Message(),
  )
  transaction.sign([payer, ...cosigners])
  return transaction
}

const feePayerOf = ({ feePayer, chain }: SolanaPaymentOptions): Keypair => {
  const chosen = feePayer ?? chain.feePayers[0]
  if (chosen === undefined) throw new Error('The chain has no fee payer')
  return chosen
}

/** A payer who owns what it pays, and a recipient whose token account is open. */
export const createParties = (
  chain: Pick<LocalSolana, 'give'>,
  amount: bigint,
  token: { readonly mint?: string; readonly program?: string } = {},
): { readonly payer: Keypair; readonly payTo: string } => {
  const payer = Keypair.generate()
  const payTo = Keypair.generate().publicKey.toBase58()
  chain.give({ owner: payer.publicKey.toBase58(), amount, ...token })
  chain.give({ owner: payTo, amount: 0n, ...token })
  return { payer, payTo }
}
