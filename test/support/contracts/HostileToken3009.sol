// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

/// @notice Answers every call by what its third argument, the value of a payment, names. Remembers what it was called with.
contract HostileToken3009 {
    enum Behaviour {
        Succeeds,
        ReturnsFalse,
        Reverts,
        BurnsGas,
        ReturnsMuch,
        RevertsWithMuch,
        Reenters // calls its caller with data that was set before
    }

    event Called(bytes data, bool isReentrySuccessful);

    bytes public reentry;

    function setReentry(bytes calldata next) external {
        reentry = next;
    }

    fallback() external {
        Behaviour behaviour = Behaviour(uint256(bytes32(msg.data[68:100])) % 7);
        if (behaviour == Behaviour.Reverts) revert("refused");
        if (behaviour == Behaviour.BurnsGas) while (true) {}
        if (behaviour == Behaviour.RevertsWithMuch) {
            assembly {
                revert(0, 150000)
            }
        }
        bool isDone = false;
        if (behaviour == Behaviour.Reenters) (isDone,) = msg.sender.call(reentry);
        emit Called(msg.data, isDone);
        if (behaviour == Behaviour.ReturnsMuch) {
            assembly {
                return(0, 150000)
            }
        }
        if (behaviour == Behaviour.ReturnsFalse) {
            assembly {
                mstore(0, 0)
                return(0, 32)
            }
        }
    }
}
