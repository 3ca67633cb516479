import { createThirdwebClient, defineChain } from 'thirdweb'
import { viemAdapter } from 'thirdweb/adapters/viem'
import { wrapFetchWithPayment } from 'thirdweb/x402'
import { createWalletClient, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { baseSepolia } from 'viem/chains'
import { readResponse } from '../readResponse.mjs'

/** `thirdweb/wallets` would install every wallet connector; what the wrapper reads of a wallet is written here. */
export const createBuyer = ({ families: { evm } }) => {
  const client = createThirdwebClient({ clientId: 'a-client-of-another-provider' })
  const walletClient = createWalletClient({
    account: privateKeyToAccount(evm.secret),
    chain: baseSepolia,
    transport: http(evm.rpcUrl),
  })
  const account = viemAdapter.walletClient.fromViem({ walletClient })
  const chain = defineChain(evm.chainId)
  const wallet = { getAccount: () => account, getChain: () => chain, switchChain: async () => undefined }
  const pay = wrapFetchWithPayment(fetch, client, wallet)
  return async (url) => readResponse(await pay(url))
}
