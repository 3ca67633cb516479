import { guards as aptos } from './aptos.js'
import { guards as channels } from './channels.js'
import { guards as cosmos } from './cosmos.js'
import { guards as exactDirect } from './exactDirect.js'
import type { Guard } from './guard.js'
import { guards as near } from './near.js'
import { guards as polkadot } from './polkadot.js'
import { guards as stacks } from './stacks.js'
import { guards as tezos } from './tezos.js'

/** By the folder that they protect. */
export const guardsByPart: Readonly<Record<string, readonly Guard[]>> = {
  exactDirect,
  channels,
  near,
  aptos,
  tezos,
  polkadot,
  stacks,
  cosmos,
}
