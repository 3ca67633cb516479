import { type Address, beginCell, contractAddress } from '@ton/core'
import { createShardAccount } from '@ton/sandbox'
import { jettonMasterCode, jettonWalletCode } from './jettonCode.js'
import type { Ledger } from './ledger.js'

export interface Jetton {
  readonly master: Address
  walletOf(owner: Address): Address
  balanceOf(owner: Address): Promise<bigint>
  mint(owner: Address, amount: bigint): Promise<void>
}

const tonForStorage = 50_000_000n

/** Deploys the reference jetton; each label is another jetton. */
export const deployJetton = async (ledger: Ledger, admin: Address, label = 'usdt'): Promise<Jetton> => {
  const content = beginCell().storeUint(1, 8).storeStringTail(`https://example.org/${label}.json`).endCell()
  const data = beginCell()
    .storeCoins(0)
    .storeAddress(admin)
    .storeRef(content)
    .storeRef(jettonWalletCode)
    .endCell()
  const master = contractAddress(0, { code: jettonMasterCode, data })
  await ledger.chain.setShardAccount(
    master,
    createShardAccount({ address: master, code: jettonMasterCode, data, balance: tonForStorage }),
  )

  const holding = (owner: Address, balance: bigint) =>
    beginCell()
      .storeCoins(balance)
      .storeAddress(owner)
      .storeAddress(master)
      .storeRef(jettonWalletCode)
      .endCell()
  // The address follows from the initial data, with a balance of 0.
  const walletOf = (owner: Address) =>
    contractAddress(0, { code: jettonWalletCode, data: holding(owner, 0n) })
  const readBalance = async (owner: Address): Promise<bigint> => {
    const contract = await ledger.chain.getContract(walletOf(owner))
    const state = contract.accountState
    return state?.type === 'active' ? (state.state.data?.beginParse().loadCoins() ?? 0n) : 0n
  }

  return {
    master,
    walletOf,
    balanceOf: (owner) => ledger.runExclusively(() => readBalance(owner)),
    mint: (owner, amount) =>
      ledger.runExclusively(async () => {
        const address = walletOf(owner)
        const balance = (await readBalance(owner)) + amount
        const account = { address, code: jettonWalletCode, data: holding(owner, balance) }
        await ledger.chain.setShardAccount(
          address,
          createShardAccount({ ...account, balance: tonForStorage }),
        )
      }),
  }
}
