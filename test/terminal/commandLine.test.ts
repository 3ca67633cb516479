import { describe, expect, it } from 'vitest'
import { CommandLineError, readCommandLine } from '../../src/terminal/commandLine.js'

describe('the command line', () => {
  it.each([
    [[], { kind: 'serve' }],
    [['--help'], { kind: 'help' }],
    [['-h'], { kind: 'help' }],
    [['--version'], { kind: 'version' }],
    [['-v'], { kind: 'version' }],
    [['admin', 'keys', 'list', '--json'], { kind: 'admin', args: ['keys', 'list', '--json'] }],
    [['admin', '--help'], { kind: 'adminHelp' }],
    [['admin', 'keys', '-h'], { kind: 'adminHelp' }],
    [['deploy', '--help'], { kind: 'deployHelp' }],
    [['deploy', '--network', 'eip155:8453'], { kind: 'deploy', network: 'eip155:8453', isDryRun: false }],
    [
      ['deploy', '--dry-run', '--network=eip155:8453'],
      { kind: 'deploy', network: 'eip155:8453', isDryRun: true },
    ],
  ])('%j asks for %j', (args, invocation) => {
    expect(readCommandLine(args)).toEqual(invocation)
  })

  it.each([
    [['--port=8080'], "Unknown option '--port'."],
    [['--EVM_PRIVATE_KEY=0x1234'], "Unknown option '--EVM_PRIVATE_KEY'."],
    [['serve'], "Unknown command 'serve': there are admin and deploy."],
    [['deploy'], '--network must be a CAIP-2 identifier, such as eip155:8453.'],
    [['deploy', '--network'], '--network must be a CAIP-2 identifier, such as eip155:8453.'],
    [['deploy', '--network', 'Base1234'], '--network must be a CAIP-2 identifier, such as eip155:8453.'],
    [['deploy', '--key=0x1234'], "Unknown option '--key'."],
    [['--x\u001B[2J'], "Unknown option '--x[2J'."],
  ])('refuses %j with a sentence, and without the value', (args, sentence) => {
    expect(() => readCommandLine(args)).toThrow(CommandLineError)
    expect(() => readCommandLine(args)).toThrow(sentence)
    expect(() => readCommandLine(args)).not.toThrow(/1234/)
  })
})
