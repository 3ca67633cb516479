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

type SolanaPaymentChain = Pick<LocalSolana, 'network' | 'usdc' | 'slots' | 'ledger' | 'feePayers'>

/** Default: USDC, with a memo, as a v0 transaction. */
export interface SolanaPaymentOptions {
  readonly chain: SolanaPaymentChain
  readonly payer: Keypair
  readonly payTo: string
  readonly amount: bigint
  /** Transferred amount, if it differs from the required one. */
  readonly transferred?: bigint
  readonly asset?: string
  readonly program?: string
  readonly feePayer?: Keypair
  /** In base58; default: the newest. */
  readonly blockhash?: string
  /** Null: no memo instruction. */
  readonly memo?: string | null
  readonly extra?: Readonly<Record<string, unknown>>
  readonly isLegacy?: boolean
  /** Changes the instructions before signing. */
  readonly change?: (instructions: TransactionInstruction[]) => TransactionInstruction[]
  /** Additional signers. */
  readonly cosigners?: readonly Keypair[]
}

export interface SolanaPaymentBody {
  readonly x402Version: 2
  readonly paymentPayload: {
    readonly x402Version: 2
    readonly accepted: SolanaRequirements
    readonly payload: { readonly transaction: string }
  }
  readonly paymentRequirements: SolanaRequirements
}

export interface SolanaRequirements {
  readonly scheme: 'exact'
  readonly network: string
  readonly amount: string
  readonly asset: string
  readonly payTo: string
  readonly maxTimeoutSeconds: number
  readonly extra: Readonly<Record<string, unknown>>
}

/** As the published client builds it, signed by the payer only. */
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

/** Without signers. */
export const memoInstruction = (memo: string): TransactionInstruction =>
  new TransactionInstruction({ programId: new PublicKey(memoProgram), keys: [], data: Buffer.from(memo) })

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

/** A funded payer, and a recipient with a token account. */
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
