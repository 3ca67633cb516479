import { type Address, beginCell } from '@ton/core'
import { createShardAccount } from '@ton/sandbox'
import { deployJetton, type Jetton } from './jetton.js'
import { createLedger, type Ledger } from './ledger.js'
import { createToncenterApi } from './toncenterApi.js'
import { startToncenterServer } from './toncenterServer.js'
import { createWallet, type TestWallet, type WalletKind } from './wallets.js'

/** A TON network in this process behind the toncenter API. */
export interface TonChain {
  readonly url: string
  readonly network: 'ton:testnet'
  readonly globalId: number
  readonly ledger: Ledger
  readonly token: Jetton
  /** Deployed and funded by default. */
  createPayer(options?: PayerOptions): Promise<TestWallet>
  deploy(wallet: TestWallet): Promise<void>
  /** Works for undeployed accounts too. */
  fund(address: Address, nanoTon: bigint): Promise<void>
  drain(address: Address, nanoTon: bigint): Promise<void>
  balanceOf(address: Address): Promise<bigint>
  isDeployed(address: Address): Promise<boolean>
  /** Deploys a contract that rejects every message. */
  deployRejecting(address: Address): Promise<void>
  /** Increments the seqno of a v5 wallet, as external use does. */
  skipSeqno(address: Address): Promise<void>
  /** Next seqno. */
  readSeqno(wallet: TestWallet): Promise<number>
  stop(): Promise<void>
}

export interface PayerOptions {
  readonly kind?: WalletKind
  readonly coins?: bigint
  readonly nanoTon?: bigint
  readonly isDeployed?: boolean
}

// THROW 33
const refusingCode = beginCell().storeUint(0xf221, 16).endCell()

const testnetZeroState = 'gj+B8wb/AmlPk1z1AhVI484rhrUpgSr2oSFIh56VoSg='

export const startTonChain = async (zeroState = testnetZeroState): Promise<TonChain> => {
  const globalId = -3
  const ledger = await createLedger()
  const issuer = createWallet('v4r2', globalId)
  const token = await deployJetton(ledger, issuer.address)
  const server = await startToncenterServer(createToncenterApi(ledger, zeroState))

  const fund = (address: Address, nanoTon: bigint) =>
    ledger.runExclusively(async () => {
      const contract = await ledger.chain.getContract(address)
      contract.balance += nanoTon
    })
  const readState = (address: Address) =>
    ledger.runExclusively(async () => (await ledger.chain.getContract(address)).accountState)
  const deploy = (wallet: TestWallet) =>
    ledger.runExclusively(async () => {
      const { address, init } = wallet
      const { balance } = await ledger.chain.getContract(address)
      const account = createShardAccount({ address, code: init.code, data: init.data, balance })
      await ledger.chain.setShardAccount(address, account)
    })

  return {
    url: server.url,
    network: 'ton:testnet',
    globalId,
    ledger,
    token,
    createPayer: async (options = {}) => {
      const { kind = 'v5r1', coins = 10_000_000n, nanoTon = 1_000_000_000n, isDeployed = true } = options
      const wallet = createWallet(kind, globalId)
      if (isDeployed) await deploy(wallet)
      if (nanoTon > 0n) await fund(wallet.address, nanoTon)
      if (coins > 0n) await token.mint(wallet.address, coins)
      return wallet
    },
    deploy,
    fund,
    drain: (address, nanoTon) => fund(address, -nanoTon),
    balanceOf: (address) =>
      ledger.runExclusively(async () => (await ledger.chain.getContract(address)).balance),
    isDeployed: async (address) => (await readState(address))?.type === 'active',
    deployRejecting: (address) =>
      ledger.runExclusively(async () => {
        const account = { address, code: refusingCode, data: beginCell().endCell(), balance: 50_000_000n }
        await ledger.chain.setShardAccount(address, createShardAccount(account))
      }),
    skipSeqno: (address) =>
      ledger.runExclusively(async () => {
        const { accountState: state, balance } = await ledger.chain.getContract(address)
        const { code, data } = state?.type === 'active' ? state.state : {}
        if (code == null || data == null) throw new Error('The wallet is not deployed')
        const slice = data.beginParse()
        const isSignatureAllowed = slice.loadBit()
        const seqno = slice.loadUint(32) + 1
        const moved = beginCell()
          .storeBit(isSignatureAllowed)
          .storeUint(seqno, 32)
          .storeSlice(slice)
          .endCell()
        const account = createShardAccount({ address, code, data: moved, balance })
        await ledger.chain.setShardAccount(address, account)
      }),
    readSeqno: async ({ address, kind }) => {
      const state = await readState(address)
      if (state?.type !== 'active') return 0
      const data = state.state.data?.beginParse()
      return data === undefined ? 0 : data.skip(kind === 'v5r1' ? 1 : 0).loadUint(32)
    },
    stop: async () => {
      await ledger.settle()
      await server.stop()
    },
  }
}
