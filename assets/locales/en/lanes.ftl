# lanes
