import { open } from '../../../src/chains/cosmos/open.js'
import { readCosmosSettings } from '../../../src/chains/cosmos/settings.js'
import { type CosmosChain, startCosmosChain } from '../../support/cosmos/cosmosChain.js'
import {
  type CosmosTerms,
  type CosmosWallet,
  cosmosBody,
  createWallet,
  send,
  sendMessage,
} from '../../support/cosmos/payment.js'
import { openDirectScheme } from '../../support/directScheme.js'
import { patientTimeoutMs, startRpcProxy } from '../../support/rpcProxy.js'
import { shiftedClock } from '../../support/shiftedClock.js'

export const cosmos = { readSettings: readCosmosSettings, open }

export const amount = 10_000n
export const voucher = 'ibc/EF48E6B1A1A19F47ECAEA62F5670C37C0580E86A9E88498B7E393EB6F49F33C0'

export const cosmosEnvironment = (url: string): Record<string, string> => ({
  COSMOS_RPC_URL_grand: url,
  COSMOS_TOKENS_grand: `uusdc,${voucher}`,
  COSMOS_POLL_INTERVAL_MS_grand: '100',
  COSMOS_RPC_TIMEOUT_MS: patientTimeoutMs,
  COSMOS_VERIFY_WAIT_MS: '0',
})

const initialBalance = 100_000_000n

/** A funded account. */
export const addFundedWallet = async (chain: CosmosChain): Promise<CosmosWallet> => {
  const wallet = await createWallet(chain)
  chain.ledger.fund(wallet.address, 'uusdc', initialBalance)
  chain.ledger.fund(wallet.address, voucher, initialBalance)
  return wallet
}

/** A chain, and the scheme behind a proxy. */
export const openScene = async (environment: Readonly<Record<string, string>> = {}) => {
  const chain = await startCosmosChain()
  const proxy = await startRpcProxy(chain.url)
  const clock = shiftedClock()
  const opened = await openDirectScheme(
    cosmos,
    { ...cosmosEnvironment(proxy.url), ...environment },
    { clock },
  )
  const payer = await addFundedWallet(chain)
  const addMerchant = async () => (await createWallet(chain)).address

  return {
    ...opened,
    chain,
    proxy,
    clock,
    payer,
    addPayer: () => addFundedWallet(chain),
    /** An address that the chain does not know yet. */
    addMerchant,
    pay: (payTo: string, paid = amount, memo = '') =>
      send(payer, [sendMessage({ from: payer.address, to: payTo, amount: paid })], { memo }),
    bodyOf: (
      txHash: string,
      terms: Partial<CosmosTerms> & { readonly payTo: string },
      from = payer.address,
    ) => cosmosBody({ amount, ...terms }, { txHash, from }),
    close: async () => {
      await opened.close()
      await proxy.stop()
      await chain.stop()
    },
  }
}
