import { Keypair } from '@solana/web3.js'
import { createLedger, type Ledger, type LedgerBehaviour } from './ledger.js'
import { genesisHashes, memoProgram } from './programs.js'
import { createRpcMethods } from './rpcMethods.js'
import { startRpcServer } from './rpcServer.js'
import { createSlots, type Slots } from './slots.js'
import {
  approveDelegate,
  associatedAccount,
  freezeHolding,
  type Holding,
  type MintOptions,
  readTokenAmount,
  writeHolding,
  writeMint,
} from './tokens.js'
import { createVirtualMachine, walletHolding } from './virtualMachine.js'

export interface LocalSolanaOptions extends Partial<LedgerBehaviour> {
  readonly cluster?: keyof typeof genesisHashes
  readonly slotMs?: number
  /** With 10 SOL each; default 1. */
  readonly feePayerCount?: number
}

/** A Solana cluster in this process: Agave's virtual machine behind JSON-RPC. */
export interface LocalSolana {
  readonly url: string
  readonly websocketUrl: string
  /** CAIP-2. */
  readonly network: string
  /** At its real address, with a test authority. */
  readonly usdc: string
  readonly authority: Keypair
  readonly feePayers: readonly Keypair[]
  readonly slots: Slots
  /** Mutable at any time. */
  readonly behaviour: LedgerBehaviour
  readonly ledger: Ledger
  fund(address: string, lamports: bigint): void
  balanceOf(address: string): bigint
  createMint(options: Omit<MintOptions, 'authority'>): void
  /** Default: USDC in the associated account. */
  give(holding: Omit<Holding, 'mint'> & { readonly mint?: string }): string
  /** Balance of the associated account. */
  holdingOf(owner: string, mint?: string, program?: string): bigint
  /** An account of this many bytes that no token program owns. */
  allocate(address: string, bytes: number): void
  freeze(tokenAccount: string): void
  approve(tokenAccount: string, delegate: string, amount: bigint): void
  stop(): Promise<void>
}

const usdcMints = {
  mainnet: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  devnet: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU',
} as const

const feePayerLamports = 10_000_000_000n

export const startLocalSolana = async (options: LocalSolanaOptions = {}): Promise<LocalSolana> => {
  const { cluster = 'mainnet', slotMs = 400, feePayerCount = 1, ...rest } = options
  const machine = createVirtualMachine()
  const slots = createSlots(slotMs)
  const behaviour = { landSlots: 0, confirmSlots: 0, finalizeSlots: 31, dropsSends: false, ...rest }
  const ledger = createLedger(machine, slots, behaviour)
  const genesisHash = genesisHashes[cluster]
  const server = await startRpcServer(createRpcMethods({ machine, slots, ledger, genesisHash }), ledger)

  const usdc = usdcMints[cluster]
  const authority = Keypair.generate()
  const fund = (address: string, lamports: bigint) => machine.write(address, walletHolding(lamports))
  const createMint = (mint: Omit<MintOptions, 'authority'>) =>
    writeMint(machine, { ...mint, authority: authority.publicKey.toBase58() })
  createMint({ mint: usdc })
  const feePayers = Array.from({ length: feePayerCount }, () => Keypair.generate())
  for (const { publicKey } of feePayers) fund(publicKey.toBase58(), feePayerLamports)
  fund(authority.publicKey.toBase58(), feePayerLamports)

  return {
    url: server.url,
    websocketUrl: server.websocketUrl,
    network: `solana:${genesisHash.slice(0, 32)}`,
    usdc,
    authority,
    feePayers,
    slots,
    behaviour,
    ledger,
    fund,
    balanceOf: (address) => machine.read(address)?.lamports ?? 0n,
    createMint,
    give: (holding) => writeHolding(machine, { mint: usdc, ...holding }),
    holdingOf: (owner, mint = usdc, program) =>
      readTokenAmount(machine.read(associatedAccount(owner, mint, program))),
    allocate: (address, bytes) =>
      machine.write(address, {
        lamports: machine.rentFor(bytes),
        data: Buffer.alloc(bytes, 1),
        owner: memoProgram,
        executable: false,
      }),
    freeze: (tokenAccount) => freezeHolding(machine, tokenAccount),
    approve: (tokenAccount, delegate, amount) => approveDelegate(machine, tokenAccount, { delegate, amount }),
    stop: server.stop,
  }
}
