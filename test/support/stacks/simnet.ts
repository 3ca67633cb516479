/** The Clarity virtual machine. */
export const openSimnet = async () => {
  const patched = 'toJSON' in BigInt.prototype
  const { getSDK } = await import('@stacks/clarinet-sdk')
  // On import the SDK makes JSON.stringify accept bigints everywhere, which hides mistakes of the code under test.
  if (!patched) Reflect.deleteProperty(BigInt.prototype, 'toJSON')
  const simnet = await getSDK()
  await simnet.initEmptySession({ enabled: false, api_url: '', use_mainnet_wallets: false })
  simnet.setEpoch('3.0')
  return simnet
}

export type Simnet = Awaited<ReturnType<typeof openSimnet>>
