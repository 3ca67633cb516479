import { basename, relative } from 'node:path'

/** How each command is written where the service was called, without its arguments. */
export interface Program {
  readonly start: string
  readonly help: string
  readonly admin: string
  readonly check: string
  readonly deploy: string
  readonly listen: string
}

const npm: Program = {
  start: 'npm start',
  help: 'npm start -- --help',
  admin: 'npm run admin --',
  check: 'npm run admin -- check',
  deploy: 'npm run deploy --',
  listen: 'npm run listen --',
}

/** By the script that Node.js was started with: that of the npm scripts, the command of the image, or another file. */
export const readProgram = (script: string, workingFolder: string): Program => {
  const name = basename(script)
  if (name === 'start.mjs') return npm
  const path = relative(workingFolder, script)
  const command = name === 'quittance' ? name : `node ${path.startsWith('..') ? script : path}`
  return {
    start: `${command} start`,
    help: `${command} --help`,
    admin: `${command} admin`,
    check: `${command} check`,
    deploy: `${command} deploy`,
    listen: `${command} listen`,
  }
}
