import { wrapFetch } from '@dexterai/x402/client'
import { readResponse } from '../readResponse.mjs'

export const createBuyer = ({ families }) => {
  const { evm, solana } = families
  const pay = wrapFetch(fetch, {
    evmPrivateKey: evm?.secret,
    walletPrivateKey: solana?.signer,
    rpcUrls: Object.fromEntries(Object.values(families).map(({ network, rpcUrl }) => [network, rpcUrl])),
  })
  return async (url) => readResponse(await pay(url))
}
