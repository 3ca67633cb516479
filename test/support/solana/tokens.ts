import { base58 } from '@scure/base'
import { PublicKey } from '@solana/web3.js'
import { tokenProgram } from './programs.js'
import type { StoredAccount, VirtualMachine } from './virtualMachine.js'

export interface MintOptions {
  readonly mint: string
  readonly authority: string
  readonly program?: string
  readonly decimals?: number
}

const mintBytes = 82
const tokenAccountBytes = 165
const amountOffset = 64

/** Creates a mint at any address, such as USDC's, with a test authority. */
export const writeMint = (
  machine: VirtualMachine,
  { mint, authority, program = tokenProgram, decimals = 6 }: MintOptions,
): void => {
  const data = Buffer.alloc(mintBytes)
  data.writeUInt32LE(1, 0)
  data.set(base58.decode(authority), 4)
  data[44] = decimals
  data[45] = 1
  machine.write(mint, { lamports: machine.rentFor(mintBytes), data, owner: program, executable: false })
}

export const associatedAccount = (owner: string, mint: string, program = tokenProgram): string =>
  PublicKey.findProgramAddressSync(
    [owner, program, mint].map((address) => new PublicKey(address).toBuffer()),
    new PublicKey('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL'),
  )[0].toBase58()

export interface Holding {
  readonly owner: string
  readonly mint: string
  readonly amount: bigint
  readonly program?: string
  /** Default: the associated account. */
  readonly address?: string
}

/** Creates a token account, or adds to its balance. */
export const writeHolding = (
  machine: VirtualMachine,
  { owner, mint, amount, program = tokenProgram, address = associatedAccount(owner, mint, program) }: Holding,
): string => {
  const known = machine.read(address)
  const data = known === null ? createAccountData(owner, mint) : Buffer.from(known.data)
  data.writeBigUInt64LE(data.readBigUInt64LE(amountOffset) + amount, amountOffset)
  const lamports = known?.lamports ?? machine.rentFor(data.length)
  machine.write(address, { lamports, data, owner: program, executable: false })
  return address
}

const createAccountData = (owner: string, mint: string): Buffer => {
  const data = Buffer.alloc(tokenAccountBytes)
  data.set(base58.decode(mint), 0)
  data.set(base58.decode(owner), 32)
  data[108] = 1
  return data
}

/** 0 if the account does not exist. */
export const readTokenAmount = (account: StoredAccount | null): bigint =>
  account === null || account.data.length < tokenAccountBytes
    ? 0n
    : account.data.readBigUInt64LE(amountOffset)

export const freezeHolding = (machine: VirtualMachine, address: string): void => {
  const account = machine.read(address)
  if (account === null) throw new Error('There is no such token account')
  const data = Buffer.from(account.data)
  data[108] = 2
  machine.write(address, { ...account, data })
}

export const approveDelegate = (
  machine: VirtualMachine,
  address: string,
  { delegate, amount }: { readonly delegate: string; readonly amount: bigint },
): void => {
  const account = machine.read(address)
  if (account === null) throw new Error('There is no such token account')
  const data = Buffer.from(account.data)
  data.writeUInt32LE(1, 72)
  data.set(base58.decode(delegate), 76)
  data.writeBigUInt64LE(amount, 121)
  machine.write(address, { ...account, data })
}
