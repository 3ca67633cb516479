import type { Page } from 'playwright-core'
import type { Hex } from 'viem'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { z } from 'zod'

interface InjectedWalletOptions {
  readonly account: PrivateKeyAccount
  /** What it does when it is asked to change to another chain. */
  readonly onSwitch?: 'follows' | 'stays' | { readonly code: number; readonly message: string }
  readonly onSign?: 'signs' | { readonly code: number; readonly message: string }
}

export interface InjectedWallet {
  /** Methods that the page called since `use`, with what they were given. */
  readonly calls: readonly { readonly method: string; readonly params: readonly unknown[] }[]
  /** Replaces the wallet by another, on Ethereum. */
  use(options: InjectedWalletOptions): void
}

const typedData = z.object({
  types: z.record(z.string(), z.array(z.object({ name: z.string(), type: z.string() }))),
  primaryType: z.string(),
  domain: z.record(z.string(), z.unknown()),
  message: z.record(z.string(), z.unknown()),
})

/** Puts a wallet into the page as an extension does (EIP-1193), on Ethereum at first; its key stays in this process. */
export const injectWallet = async (page: Page): Promise<InjectedWallet> => {
  const calls: { method: string; params: readonly unknown[] }[] = []
  let chainId = '0x1'
  let wallet: InjectedWalletOptions = { account: privateKeyToAccount(generatePrivateKey()) }
  const answer = async (method: string, params: readonly unknown[]): Promise<unknown> => {
    calls.push({ method, params })
    const { account, onSwitch = 'follows', onSign = 'signs' } = wallet
    if (method === 'eth_requestAccounts') return { result: [account.address] }
    if (method === 'eth_chainId') return { result: chainId }
    if (method === 'wallet_switchEthereumChain') {
      if (typeof onSwitch === 'object') return { error: onSwitch }
      if (onSwitch === 'follows') chainId = z.object({ chainId: z.string() }).parse(params[0]).chainId
      return { result: null }
    }
    if (method === 'eth_signTypedData_v4') {
      if (typeof onSign === 'object') return { error: onSign }
      return { result: await sign(account, String(params[1])) }
    }
    return { error: { code: -32601, message: `${method} is unknown` } }
  }
  await page.exposeFunction('answerAsWallet', answer)
  await page.addInitScript(`window.ethereum = {
    request: async ({ method, params = [] }) => {
      const { result, error } = await window.answerAsWallet(method, params)
      if (error !== undefined) throw Object.assign(new Error(error.message), error)
      return result
    },
  }`)
  return {
    calls,
    use: (options) => {
      calls.length = 0
      chainId = '0x1'
      wallet = options
    },
  }
}

const sign = (account: PrivateKeyAccount, json: string): Promise<Hex> => {
  const { types, ...rest } = typedData.parse(JSON.parse(json))
  // As wallets do, viem derives the type of the domain from its fields.
  return account.signTypedData({ types, ...rest })
}
