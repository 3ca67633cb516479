// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

/// @notice A payment scheme of the tests: unlike EIP-3009 in its event, its time rule and its zero payments.
/// Tests write its storage, so the order of the variables matters.
contract ToySettlements {
    enum Behaviour {
        Pays,
        Reverts,
        DoesNothing, // succeeds without paying
        SucceedsWhenUsed, // succeeds without paying a second time
        BurnsGas
    }

    mapping(address => uint256) public credits;
    mapping(bytes32 => Behaviour) public behaviours;
    mapping(bytes32 => bool) public isUsed;
    uint256 public gasToBurn;

    event Settled(bytes32 indexed id, address indexed payTo, uint256 value);
    event Withdrawn(bytes32 indexed id);

    /// @param firstSecond the first block time at which the payment may be made
    /// @param lastSecond the last one, inclusive
    /// @param sender the only sender, or zero for any
    function settle(
        bytes32 id,
        address payer,
        address payTo,
        uint256 value,
        uint256 firstSecond,
        uint256 lastSecond,
        address sender
    ) external {
        require(block.timestamp >= firstSecond, "toy: too early");
        require(block.timestamp <= lastSecond, "toy: too late");
        require(sender == address(0) || msg.sender == sender, "toy: wrong sender");
        Behaviour behaviour = behaviours[id];
        require(behaviour != Behaviour.Reverts, "toy: reverts");
        if (isUsed[id]) {
            require(behaviour == Behaviour.SucceedsWhenUsed, "toy: used");
            return;
        }
        if (behaviour == Behaviour.DoesNothing) return;
        uint256 goal = behaviour == Behaviour.BurnsGas ? 0 : gasleft() - gasToBurn;
        if (behaviour == Behaviour.BurnsGas || gasToBurn > 0) {
            while (gasleft() > goal) {}
        }
        require(credits[payer] >= value, "toy: no credit");
        isUsed[id] = true;
        credits[payer] -= value;
        credits[payTo] += value;
        emit Settled(id, payTo, value);
    }

    /// @notice Uses up an id without paying.
    function withdraw(bytes32 id) external {
        require(!isUsed[id], "toy: used");
        isUsed[id] = true;
        emit Withdrawn(id);
    }
}
