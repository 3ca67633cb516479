const startSimnet = async () => {
  const patched = 'toJSON' in BigInt.prototype
  const { getSDK } = await import('@stacks/clarinet-sdk')
  // On import the SDK makes JSON.stringify accept bigints everywhere, which hides mistakes of the code under test.
  if (!patched) Reflect.deleteProperty(BigInt.prototype, 'toJSON')
  const simnet = await getSDK()
  await simnet.initEmptySession({ enabled: false, api_url: '', use_mainnet_wallets: false })
  simnet.setEpoch('3.0')
  return simnet
}

export type Simnet = Awaited<ReturnType<typeof startSimnet>>

let started: Promise<Simnet> | null = null

/**
 * The Clarity virtual machine, one for all chains of this process: its start executes the contracts of Stacks itself, which
 * takes four seconds of processor time. Chains have no account in common, and so no contract, balance or nonce.
 */
export const openSimnet = (): Promise<Simnet> => {
  started ??= startSimnet()
  return started
}
