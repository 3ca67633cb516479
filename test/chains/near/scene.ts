import { open } from '../../../src/chains/near/open.js'
import { readNearSettings } from '../../../src/chains/near/settings.js'
import { openDirectScheme } from '../../support/directScheme.js'
import {
  createContract,
  createPayingContract,
  createPrinter,
  createReceiver,
  type TokenContract,
} from '../../support/near/contracts.js'
import { type NearChain, startNearChain } from '../../support/near/nearChain.js'
import {
  createWallet,
  type NearCall,
  type NearTerms,
  type NearWallet,
  nearBody,
  newAccountId,
  send,
} from '../../support/near/payment.js'
import { patientTimeoutMs, type RpcProxy, startRpcProxy } from '../../support/rpcProxy.js'
import { shiftedClock } from '../../support/shiftedClock.js'

export const near = { readSettings: readNearSettings, open }

export const tokenId = 'usdc.testnet'
export const otherTokenId = 'other-usd.testnet'
export const amount = 10_000n

export const nearEnvironment = (url: string): Record<string, string> => ({
  NEAR_RPC_URL_testnet: url,
  NEAR_TOKENS_testnet: `${tokenId}=USDC/6,${otherTokenId}`,
  NEAR_POLL_INTERVAL_MS_testnet: '100',
  NEAR_RPC_TIMEOUT_MS: patientTimeoutMs,
  NEAR_VERIFY_WAIT_MS: '0',
})

/** A chain with two tokens and some contracts, and the scheme behind a proxy. */
export const openScene = async (environment: Readonly<Record<string, string>> = {}) => {
  const chain = await startNearChain()
  const token = chain.addToken(tokenId)
  const otherToken = chain.addToken(otherTokenId)
  chain.addAccount(
    'refunder.testnet',
    null,
    createReceiver((received) => received),
  )
  chain.addAccount(
    'halver.testnet',
    null,
    createReceiver((received) => received / 2n),
  )
  chain.addAccount(
    'receiver.testnet',
    null,
    createReceiver(() => 0n),
  )
  chain.addAccount('payer-contract.testnet', null, createPayingContract())
  chain.addAccount('printer.testnet', null, createPrinter())
  chain.addAccount('empty.testnet', null, createContract({}))
  for (const each of [token, otherToken]) {
    for (const account of ['refunder', 'halver', 'receiver', 'payer-contract']) {
      each.mint(`${account}.testnet`, account === 'payer-contract' ? 1_000_000n : 0n)
    }
  }
  const proxy = await startRpcProxy(chain.url)
  const clock = shiftedClock()
  const opened = await openDirectScheme(near, { ...nearEnvironment(proxy.url), ...environment }, { clock })

  /** An account with both tokens. */
  const addPayer = (name = 'alice'): NearWallet => {
    const payer = createWallet(chain, newAccountId(name))
    token.mint(payer.id, 1_000_000n)
    otherToken.mint(payer.id, 1_000_000n)
    return payer
  }
  /** A registered account without keys. */
  const addMerchant = (): string => {
    const id = newAccountId('merchant')
    chain.addAccount(id, null)
    token.mint(id, 0n)
    otherToken.mint(id, 0n)
    return id
  }
  const payer = addPayer()

  return {
    ...opened,
    chain,
    token,
    otherToken,
    proxy,
    clock,
    payer,
    addPayer,
    addMerchant,
    /** Sends calls to the token, or to another account, as the payer. */
    pay: (calls: readonly NearCall[], receiver = tokenId) => send(payer, receiver, calls),
    /** Body of a payment of `amount` by the payer. */
    bodyOf: (txHash: string, terms: Partial<NearTerms> & { readonly payTo: string }, from = payer.id) =>
      nearBody({ asset: tokenId, amount, ...terms }, { txHash, from }),
    close: async () => {
      await opened.close()
      await proxy.stop()
      await chain.stop()
    },
  }
}

export type Scene = Awaited<ReturnType<typeof openScene>>
export type { NearChain, RpcProxy, TokenContract }
