import { aptos } from './aptos/index.js'
import type { AnyChainFamily, SignInFamily } from './chain.js'
import { cosmos } from './cosmos/index.js'
import { evm } from './evm/index.js'
import { near } from './near/index.js'
import { polkadot } from './polkadot/index.js'
import { createSandbox } from './sandbox/index.js'
import { solana } from './solana/index.js'
import { stacks } from './stacks/index.js'
import { stellar } from './stellar/index.js'
import { tezos } from './tezos/index.js'
import { ton } from './ton/index.js'
import { tron } from './tron/index.js'

/** Every supported chain family. To add one: add its folder and one entry here. */
export const families: readonly AnyChainFamily[] = [
  evm,
  solana,
  ton,
  tron,
  near,
  aptos,
  tezos,
  polkadot,
  stacks,
  cosmos,
  createSandbox([evm, solana, ton, tron]),
]

/** Families whose wallets can sign in. */
export const signInFamilies: readonly SignInFamily[] = [
  ...families.flatMap(({ namespace, loadSignIn }) =>
    loadSignIn === undefined ? [] : [{ namespace, loadSignIn }],
  ),
  stellar,
]
